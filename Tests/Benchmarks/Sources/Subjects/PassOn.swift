public import Waybill

/// A middleware that does nothing but pass messages on.
public struct PassOn: Middleware {
    /// Makes one.
    public init() {}

    /// Passes a message on.
    public nonisolated(nonsending) func handle(
        _ message: Message,
        next: borrowing Next
    ) async throws -> any Sendable {
        try await next(message)
    }
}
