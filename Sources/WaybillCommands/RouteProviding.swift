#if Tool

public import Waybill

/// A program that creates its bus for the command `routes`, which lists the routes of the bus.
public protocol RouteProviding {
    /// Creates the program's bus with all registrations, and starts nothing else.
    static func makeBus() async throws -> MessageBus

    /// The protocols of the services that the program needs, for example `(any TimeService).self`.
    ///
    /// `routes --check` reports a service that no module provides. The array is empty by default.
    static var neededServices: [any Any.Type] { get }
}

extension RouteProviding {
    /// An empty array: `routes --check` checks no services.
    public static var neededServices: [any Any.Type] { [] }
}

#endif
