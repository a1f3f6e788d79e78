public import WaybillRouting

/// A middleware that refuses messages by a predicate and reports failures.
///
/// ```swift
/// bus.use(FilterMiddleware { message in message.headers["user"] != nil })
/// ```
///
/// A message that does not pass fails with `refused`. The idea comes from the global filter of the library
/// COCRouter, which also receives every failure. This includes the failure of a URL without a handler, but
/// not of a text that is not a URL.
///
/// ```swift
/// bus.use(FilterMiddleware(onFailure: { message, error in print(message.address, error.code) }))
/// ```
public struct FilterMiddleware: Middleware {
    private let passes: @Sendable (Message) throws -> Bool
    private let onFailure: @Sendable (Message, RoutingError) -> Void

    /// Creates a middleware that refuses some messages and reports failures.
    ///
    /// - Parameters:
    ///   - passes: A closure that returns whether a message may pass. To give a reason, the closure throws
    ///     ``/WaybillRouting/RoutingError/refused(_:cause:)``. By default, all messages pass.
    ///   - onFailure: A closure that receives each message that fails, and the reason.
    public init(
        _ passes: @escaping @Sendable (Message) throws -> Bool = { _ in true },
        onFailure: @escaping @Sendable (Message, RoutingError) -> Void = { _, _ in }
    ) {
        self.passes = passes
        self.onFailure = onFailure
    }

    /// Lets a message pass or refuses the message, and reports the failure of the message.
    public nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        do {
            guard try self.passes(message) else {
                throw RoutingError.refused("a filter rejected the message")
            }
            return try await next(message)
        } catch {
            let error = RoutingError.thrown(error, around: message.parameters.url)
            self.onFailure(message, error)
            throw error
        }
    }
}
