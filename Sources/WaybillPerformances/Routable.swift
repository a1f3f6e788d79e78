public import Waybill
public import WaybillRouting

/// A mark for a protocol whose services are made on demand or provided by a module.
///
/// A request for a protocol without a mark does not compile.
///
/// The module that declares the protocol also declares its mark:
///
/// ```swift
/// extension Routable where Service == any Player {
///     static var player: Self { Self(declared: (any Player).self) }
/// }
///
/// let performance = try bus.performance(of: .player)
/// ```
public struct Routable<Service: Sendable>: Sendable {
    /// Declares a protocol as routable, for use in the extension that marks the protocol.
    public init(declared service: Service.Type) {}
}

extension MessageBus {
    /// Creates a performance, which makes a service when its `perform()` is called, by the mark of the
    /// service's protocol.
    ///
    /// A mark is a constant in an extension of ``Routable``, as `.player`.
    ///
    /// - Parameters:
    ///   - service: the mark of the protocol.
    ///   - name: the name of the provider, if there is more than one.
    ///   - configure: changes the configuration of the performance; called at once.
    /// - Returns: the performance, which makes the service once or several times.
    /// - Throws: `noHandler` if no ``ServiceRouter`` makes the service.
    public func performance<Destination: Sendable>(
        of service: Routable<Destination>,
        named name: String? = nil,
        _ configure: (inout PerformConfiguration<Destination>) -> Void = { _ in }
    ) throws(RoutingError) -> Performance<Destination> {
        try self.performance(of: Destination.self, named: name, configure)
    }

    /// Creates a performance for a service that is made on demand, by the mark of its protocol and with
    /// settings.
    ///
    /// - Parameters:
    ///   - service: the mark of the protocol.
    ///   - name: the name of the provider, if there is more than one.
    ///   - settings: the settings for the router, of its type ``ServiceRouter/Settings``.
    ///   - configure: changes the configuration of the performance; called at once.
    /// - Returns: the performance, which makes the service once or several times.
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

    /// Returns a service of a module, by the mark of its protocol.
    ///
    /// - Parameters:
    ///   - service: the mark of the protocol.
    ///   - name: the name of the provider, if there is more than one.
    /// - Returns: a proxy for the provider, or the result of an adapter.
    /// - Throws: `noHandler`, whose message names the available services.
    public func service<Service: Sendable>(
        _ service: Routable<Service>,
        named name: String? = nil
    ) throws(RoutingError) -> Service {
        try self.service(Service.self, named: name)
    }
}
