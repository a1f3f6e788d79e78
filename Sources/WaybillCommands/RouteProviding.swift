#if Tool

public import Waybill

/// A program that makes its bus for the command that lists the routes.
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
