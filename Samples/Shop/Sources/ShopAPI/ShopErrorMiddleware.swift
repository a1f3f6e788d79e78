public import Waybill

/// Sends the messages of shop errors to customers in other programs.
///
/// A peer does not receive the error of a handler, because the error could reveal internals of the program. A
/// `ShopError` is written for customers. For a message from another program, this middleware turns it into a
/// refusal with its message.
public struct ShopErrorMiddleware: Middleware {
    /// Creates the middleware.
    public init() {}

    /// Calls the next handler, and refuses the message with the text of a shop error if that fails with one.
    public nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        do {
            return try await next(message)
        } catch {
            guard !message.origin.isLocal, let shopError = ShopError(causeOf: error) else { throw error }
            throw RoutingError.refused("\(shopError)", cause: shopError)
        }
    }
}

extension ShopError {
    /// Returns the shop error that caused an error, however many messages are between them, or nil if the
    /// cause is another error.
    public init?(causeOf error: any Error) {
        var cause: (any Error)? = error
        while let routing = cause as? RoutingError { cause = routing.cause }
        guard let shopError = cause as? ShopError else { return nil }
        self = shopError
    }
}
