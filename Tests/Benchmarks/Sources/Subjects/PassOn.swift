public import Waybill

/// A middleware that only passes messages on.
///
/// The type is internal like the middleware of a program, because the compiler generates two functions for a
/// method of a public type.
struct PassOn: Middleware {
    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        try await next(message)
    }
}

extension MessageBus {
    /// Adds middlewares that only pass messages on.
    public func passOn(times: Int) {
        for _ in 0..<times { self.use(PassOn()) }
    }
}
