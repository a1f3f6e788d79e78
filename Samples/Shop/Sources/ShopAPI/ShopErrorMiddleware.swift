public import Waybill

/// Sends the messages of shop errors to customers in other programs.
///
/// A peer does not receive the error of a handler, because it could reveal the inside of the program. A
/// `ShopError` is meant for customers. For a message from outside, this middleware turns it into a refusal
/// with its message.
public struct ShopErrorMiddleware: Middleware {
    /// Makes it.
    public init() {}

    /// Has the rest answer, and refuses with the shop's own words if that fails by them.
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
    /// Creates the error of the module from an error, however many messages it has passed through.
    ///
    /// The result is nil if the error has another cause.
    public init?(causeOf error: any Error) {
        var cause: (any Error)? = error
        while let routing = cause as? RoutingError { cause = routing.cause }
        guard let shopError = cause as? ShopError else { return nil }
        self = shopError
    }
}
