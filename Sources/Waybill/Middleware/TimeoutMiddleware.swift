/// A middleware that limits the duration of each delivery.
///
/// ```swift
/// try bus.use(TimeoutMiddleware(.seconds(1)), for: "app://account/**")
/// ```
///
/// A delivery that takes longer fails with `deadlineExceeded`: the handler is cancelled, and the caller
/// resumes. The limit applies to the following middlewares and the handler, and therefore to all attempts of
/// a following ``RetryMiddleware`` together. An earlier deadline of the caller still applies.
public struct TimeoutMiddleware: Middleware {
    private let limit: Duration

    /// Creates a middleware with the maximum duration of each delivery.
    public init(_ limit: Duration) { self.limit = limit }

    /// Delivers a message with a deadline that the limit determines.
    public nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        try await next(message.with(deadline: context.now + self.limit))
    }
}
