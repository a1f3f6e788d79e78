public import Waybill

/// A middleware that does nothing but pass messages on.
///
/// It is internal, as one of a program is; the compiler makes two functions of a public type's method.
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
    /// Puts middlewares around every delivery that do nothing but pass messages on.
    public func passOn(times: Int) {
        for _ in 0..<times { self.use(PassOn()) }
    }
}
