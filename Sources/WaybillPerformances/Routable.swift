public import Waybill
public import WaybillRouting

/// A mark for a protocol that is known to be made on demand, or provided as a service: asking for one that is
/// not marked does not compile.
///
/// The module that declares the protocol marks it, beside the declaration:
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
    /// A service that is to be made on demand, by its mark.
    ///
    /// - Parameters:
    ///   - service: the mark of the protocol.
    ///   - name: which provider, if there are several.
    ///   - configure: says what is wanted of it; called at once.
    /// - Returns: what makes it, once or several times.
    /// - Throws: `noHandler` if no router makes the service.
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
    ///   - service: the mark of the protocol.
    ///   - name: which provider, if there are several.
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

    /// A service of a module, by its mark.
    ///
    /// - Parameters:
    ///   - service: the mark of the protocol.
    ///   - name: which provider, if there are several.
    /// - Returns: a proxy for the provider, or what an adapter made of one.
    /// - Throws: `noHandler` that says which services there are.
    public func service<Service: Sendable>(
        _ service: Routable<Service>,
        named name: String? = nil
    ) throws(RoutingError) -> Service {
        try self.service(Service.self, named: name)
    }
}
