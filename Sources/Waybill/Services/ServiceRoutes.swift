internal import WaybillRouting

/// What a module handles that provides a service: the routes of the protocol's methods, and how the protocol
/// is found.
///
/// `@Service` writes the function that makes one. A module that conforms to a service elsewhere than behind
/// the actor's own colon names it here:
///
/// ```swift
/// static var services: [ServiceRoutes<ClockModule>] {
///     serviceRoutes(of: (any TimeService).self, in: ClockModule.self)
/// }
/// ```
public struct ServiceRoutes<Provider: Module>: Sendable {
    let url: String
    private(set) var routes: @Sendable (_ url: String) -> [ModuleRoute<Provider>]
    /// What the bus remembers, once it is known where the routes are.
    let offer: @Sendable (_ name: String?, _ url: String) -> ServiceOffer

    /// Describes the service that a module provides.
    ///
    /// - Parameters:
    ///   - service: the protocol.
    ///   - url: the URL that its methods are below.
    ///   - proxy: makes what callers get.
    ///   - routes: the routes, below a URL that has the provider's name in it if it has one.
    public init<Service: Sendable>(
        _ service: Service.Type,
        at url: String,
        proxy: @escaping @Sendable (ServiceEndpoint) -> Service,
        routes: @escaping @Sendable (_ url: String) -> [ModuleRoute<Provider>]
    ) {
        self.url = url
        self.routes = routes
        self.offer = { name, url in
            let urls = routes(url).map(\.description.pattern)
            return ServiceOffer(service, name, urls: urls, maker: .proxy(at: url, proxy))
        }
    }

    /// The same service, whose routes call in place what the module has without `async`.
    ///
    /// - Parameter methods: methods of the module; those of which the service knows nothing do no harm.
    /// - Returns: the service.
    public func calling(_ methods: [ModuleMethod<Provider>]) -> Self {
        var service = self
        service.routes = { [routes = self.routes] url in routes(url).map { $0.calling(methods) } }
        return service
    }

    /// The error about a module with `@Route` on a method that is a route by the service already; nil if it
    /// has none.
    func conflict(with own: [ModuleRoute<Provider>], named name: String?) -> RoutingError? {
        let url = self.url(named: name)
        let patterns = Set(self.routes(url).map(\.description.pattern))
        let twice = own.lazy.map(\.description).first { patterns.contains($0.pattern) }
        guard let route = twice else { return nil }
        let method = "`\(route.action ?? "")` of \(route.module ?? "")"
        let service = "the service `\(self.offer(name, url).key)`"
        return RoutingError(
            .conflict,
            url: route.pattern,
            message: "\(method) handles \(route.pattern) twice, by `@Route` and by \(service): "
                + "remove `@Route`"
        )
    }

    /// The URL of a provider with a name.
    func url(named name: String?) -> String {
        name.map { "\(self.url)/\(Address.encode($0))" } ?? self.url
    }
}

/// What a type brings that is no service: nothing.
///
/// `@Module` calls it with each type that its actor names, and the overloads that `@Service` writes are
/// preferred to this one.
@_disfavoredOverload
public func serviceRoutes<Service, Provider: Module>(
    of service: Service.Type,
    in module: Provider.Type
) -> [ServiceRoutes<Provider>] {
    []
}
