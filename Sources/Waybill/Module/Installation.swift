/// A module's place in a bus; keep it to take the module out again.
public struct Installation<Module: Waybill.Module>: Sendable {
    /// The instances of the module, in the order of the bus's loops.
    public let modules: [Module]

    /// The module, or its first instance.
    public var module: Module { self.modules[0] }

    /// The registrations of its routes, in their order.
    public let registrations: [Registration]

    /// The registrations of the services that it provides.
    let services: [Registration]

    /// Unregisters all routes of the module, and takes its services out: whoever waits for it fails at once
    /// with `noHandler`.
    public func cancel() {
        for service in self.services { service.cancel() }
        for registration in self.registrations { registration.cancel() }
    }
}
