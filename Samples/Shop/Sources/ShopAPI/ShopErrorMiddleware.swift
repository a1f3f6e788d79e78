public import Waybill

/// Tells the customers of other programs why the shop says no.
///
/// A peer is told nothing of what a handler throws, since that may be about the inside of the program. A
/// `ShopError` is a sentence for customers: for a message from outside it becomes a refusal, and its sentence
/// goes out.
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
    /// What a module said, however many messages it passed through; nil if an error has another cause.
    public init?(causeOf error: any Error) {
        var cause: (any Error)? = error
        while let routing = cause as? RoutingError { cause = routing.cause }
        guard let shopError = cause as? ShopError else { return nil }
        self = shopError
    }
}
