public import Waybill
public import WaybillRouting

/// A marker for a protocol that a program provides on demand or as a service.
///
/// Code that asks for a protocol without a marker does not compile. The module that declares the protocol
/// declares the marker beside it:
///
/// ```swift
/// extension Routable where Service == any Player {
///     static var player: Self { Self(declared: (any Player).self) }
/// }
///
/// let performance = try bus.performance(of: .player)
/// ```
public struct Routable<Service: Sendable>: Sendable {
    /// Declares a protocol as routable; for the extension that marks it.
    public init(declared service: Service.Type) {}
}

extension MessageBus {
    /// Returns a performance of a marked protocol.
    ///
    /// - Parameters:
    ///   - service: The marker of the protocol.
    ///   - name: The name of the provider, if there are several.
    ///   - configure: Configures the performance. It is called immediately.
    /// - Returns: The performance, which can be performed several times.
    /// - Throws: `noHandler` if no router creates the service.
    public func performance<Destination: Sendable>(
        of service: Routable<Destination>,
        named name: String? = nil,
        _ configure: (inout PerformConfiguration<Destination>) -> Void = { _ in }
    ) throws(RoutingError) -> Performance<Destination> {
        try self.performance(of: Destination.self, named: name, configure)
    }

    /// A service that is to be made on demand, by its mark and settings.
    ///
    /// - Parameters:
    ///   - service: The mark of the protocol.
    ///   - name: Which provider, if there are several.
    ///   - settings: The settings for the router, of its type ``ServiceRouter/Settings``.
    ///   - configure: Changes the configuration of the performance; called at once.
    /// - Returns: The performance, which makes the service once or several times.
    /// - Throws: `typeMismatch` for settings of another type than the router's; `noHandler` if no router
    ///   makes the service.
    public func performance<Destination: Sendable>(
        of service: Routable<Destination>,
        named name: String? = nil,
        settings: some Sendable,
        _ configure: (inout PerformConfiguration<Destination>) -> Void = { _ in }
    ) throws(RoutingError) -> Performance<Destination> {
        try self.performance(of: Destination.self, named: name, settings: settings, configure)
    }

    /// Returns a service of a module for a marked protocol.
    ///
    /// - Parameters:
    ///   - service: The marker of the protocol.
    ///   - name: The name of the provider, if there are several.
    /// - Returns: A proxy for the provider, or the result of an adapter.
    /// - Throws: `noHandler` with the list of existing services.
    public func service<Service: Sendable>(
        _ service: Routable<Service>,
        named name: String? = nil
    ) throws(RoutingError) -> Service {
        try self.service(Service.self, named: name)
    }
}
