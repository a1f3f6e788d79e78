internal import WaybillRouting

/// The routes of a service's methods in the module that provides the service, and the service's registration.
///
/// `@Module` makes these values for the protocols in the actor's inheritance clause. If the module conforms
/// to a service in another place, for example in an extension, declare the service in the module:
///
/// ```swift
/// static var services: [ServiceRoutes<ClockModule>] {
///     serviceRoutes(of: (any TimeService).self, in: ClockModule.self)
/// }
/// ```
public struct ServiceRoutes<Provider: Module>: Sendable {
    let url: String
    private(set) var routes: @Sendable (_ url: String) -> [ModuleRoute<Provider>]
    /// A closure that makes the bus's entry for the service, once the URL of the routes is known.
    let offer: @Sendable (_ name: String?, _ url: String) -> ServiceOffer

    /// Creates the routes of a service that a module provides.
    ///
    /// - Parameters:
    ///   - service: The protocol.
    ///   - url: The base URL of the service's methods.
    ///   - proxy: A closure that makes the proxy that callers receive.
    ///   - routes: A closure that makes the routes below a URL, which contains the name of a named provider.
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
            return ServiceOffer(key: ServiceKey(service, name), source: .proxy(at: url, proxy), urls: urls)
        }
    }

    /// Returns a copy whose routes call the given methods of the module in place.
    ///
    /// Methods that do not belong to the service are ignored.
    public func calling(_ methods: [ModuleMethod<Provider>]) -> Self {
        var service = self
        service.routes = { [routes = self.routes] url in routes(url).map { $0.calling(methods) } }
        return service
    }

    /// Returns the error for a module whose method has both a route of the service and `@Route`, or nil.
    func conflict(with own: [ModuleRoute<Provider>], named name: String?) -> RoutingError? {
        let url = self.url(named: name)
        let patterns = Set(self.routes(url).map(\.description.pattern))
        let twice = own.lazy.map(\.description).first { patterns.contains($0.pattern) }
        guard let route = twice else { return nil }
        let method = "`\(route.action ?? "")` of \(route.module ?? "") handles \(route.pattern) twice"
        let by = "by `@Route` and by the service `\(self.offer(name, url).key)`"
        return RoutingError(.conflict, url: route.pattern, message: "\(method), \(by): remove `@Route`")
    }

    func url(named name: String?) -> String {
        name.map { "\(self.url)/\(Address.encode($0))" } ?? self.url
    }
}

/// Returns an empty list, for a type that is not a service.
///
/// `@Module` calls this function with each inherited type. For a service, the compiler prefers the overload
/// that `@Service` generates.
@_disfavoredOverload
public func serviceRoutes<Service, Provider: Module>(
    of service: Service.Type,
    in module: Provider.Type
) -> [ServiceRoutes<Provider>] {
    []
}
