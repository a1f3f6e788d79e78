/// Bounds each delivery: one that takes longer fails with `deadlineExceeded`, its handler is cancelled, and
/// its caller is free.
///
/// ```swift
/// try bus.use(TimeoutMiddleware(.seconds(1)), for: "app://account/**")
/// ```
///
/// It bounds what comes after it: around a ``RetryMiddleware`` it bounds all attempts together, and inside of
/// one each by itself. The caller's deadline holds as well, whichever is earlier.
public struct TimeoutMiddleware: Middleware {
    private let limit: Duration

    /// Makes a middleware that bounds deliveries.
    ///
    /// - Parameter limit: how long one may take.
    public init(_ limit: Duration) { self.limit = limit }

    /// Delivers a message with a deadline.
    public nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        try await next(message.with(deadline: context.now + self.limit))
    }
}
