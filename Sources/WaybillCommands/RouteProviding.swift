#if Tool

public import Waybill

/// A program that can say what its routes are.
public protocol RouteProviding {
    /// Makes the program's bus with everything registered, and starts nothing else.
    static func makeBus() async throws -> MessageBus
}

#endif
