public import Waybill

/// A service of one method, with its proxy and its routes as `@Service` writes them.
public protocol DetailService: Sendable {
    /// Returns the number that it is called with.
    func detail(uid: Int) async throws -> Int
}

/// A proxy that calls a `DetailService` with messages.
public struct DetailServiceProxy: DetailService {
    private let methods: ServiceMethods

    /// Creates a proxy for the provider at an endpoint.
    public init(_ endpoint: ServiceEndpoint) { self.methods = endpoint.methods("detail") }

    /// Routes a message to the provider.
    public nonisolated(nonsending) func detail(uid: Int) async throws -> Int {
        try await self.methods.call(0, ServiceArguments().with("uid", uid), as: Int.self)
    }
}

/// Returns the routes of a module that provides a `DetailService`.
public func serviceRoutes<Provider: Module & DetailService>(
    of service: (any DetailService).Type,
    in module: Provider.Type
) -> [ServiceRoutes<Provider>] {
    let routes: @Sendable (_ url: String) -> [ModuleRoute<Provider>] = { url in
        [
            ModuleRoute(
                url + "/detail",
                action: "detail",
                method: "detail(uid:)",
                parameters: [.init("uid", "Int", of: Int.self)]
            ) { module, message -> Int in
                try await module.detail(uid: message.argument("uid") as Int)
            }
        ]
    }
    return [ServiceRoutes(service, at: "app://details", proxy: { DetailServiceProxy($0) }, routes: routes)]
}
