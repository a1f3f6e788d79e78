public import Waybill
public import WaybillRouting

/// A constant that names a protocol in calls of the bus.
///
/// Services of the protocol are made on demand or provided by a module. The bus has methods that take such a
/// constant instead of the protocol. A program that requests a protocol without a constant then does not
/// compile.
///
/// The module that declares the protocol also declares the constant:
///
/// ```swift
/// extension Routable where Service == any Player {
///     static var player: Self { Self(declared: (any Player).self) }
/// }
///
/// let performance = try bus.performance(of: .player)
/// ```
public struct Routable<Service: Sendable>: Sendable {
    /// Creates the constant of a protocol, in an extension of ``Routable``.
    public init(declared service: Service.Type) {}
}

extension MessageBus {
    /// Creates a performance for the constant of a service's protocol.
    ///
    /// The performance makes the service when its `perform()` is called.
    ///
    /// The constant is declared in an extension of ``Routable``, for example as `.player`.
    ///
    /// - Parameters:
    ///   - service: The constant of the protocol.
    ///   - name: The name of the provider, if there is more than one.
    ///   - configure: A closure that changes the configuration of the performance, and is called at once.
    /// - Returns: The performance, which makes the service once or several times.
    /// - Throws: `noHandler` if no ``ServiceRouter`` makes the service.
    public func performance<Destination: Sendable>(
        of service: Routable<Destination>,
        named name: String? = nil,
        _ configure: (inout PerformConfiguration<Destination>) -> Void = { _ in }
    ) throws(RoutingError) -> Performance<Destination> {
        try self.performance(of: Destination.self, named: name, configure)
    }

    /// Creates a performance with settings, for the constant of a service's protocol.
    ///
    /// - Parameters:
    ///   - service: The constant of the protocol.
    ///   - name: The name of the provider, if there is more than one.
    ///   - settings: The settings for the router, of its type ``ServiceRouter/Settings``.
    ///   - configure: A closure that changes the configuration of the performance, and is called at once.
    /// - Returns: The performance, which makes the service once or several times.
    /// - Throws: `typeMismatch` if the settings do not have the type of the router's settings; `noHandler` if
    ///   no router makes the service.
    public func performance<Destination: Sendable>(
        of service: Routable<Destination>,
        named name: String? = nil,
        settings: some Sendable,
        _ configure: (inout PerformConfiguration<Destination>) -> Void = { _ in }
    ) throws(RoutingError) -> Performance<Destination> {
        try self.performance(of: Destination.self, named: name, settings: settings, configure)
    }

    /// Returns a service of a module, for the constant of its protocol.
    ///
    /// - Parameters:
    ///   - service: The constant of the protocol.
    ///   - name: The name of the provider, if there is more than one.
    /// - Returns: A proxy for the provider, or the result of an adapter.
    /// - Throws: `noHandler`, whose message names the available services.
    public func service<Service: Sendable>(
        _ service: Routable<Service>,
        named name: String? = nil
    ) throws(RoutingError) -> Service {
        try self.service(Service.self, named: name)
    }
}
