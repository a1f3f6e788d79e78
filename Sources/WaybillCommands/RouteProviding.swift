#if Tool

public import Waybill

/// A program that can say what its routes are.
public protocol RouteProviding {
    /// Creates the program's bus with everything registered, and starts nothing else.
    static func makeBus() async throws -> MessageBus

    /// The protocols of the services that the program uses, for example `(any TimeService).self`; none by
    /// default.
    ///
    /// `routes --check` reports the services that no module provides.
    static var neededServices: [any Any.Type] { get }
}

extension RouteProviding {
    /// None: the program asks for no service, or does not want them to be checked.
    public static var neededServices: [any Any.Type] { [] }
}

#endif
