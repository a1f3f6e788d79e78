internal import WaybillEventLoop
internal import WaybillRouting

/// The following part of a delivery: the middlewares after the current middleware, and the handler.
///
/// A middleware may call `next` never, once or several times. Each call is one attempt to deliver the
/// message. The value cannot be copied or kept, so no attempt can begin after the middleware has returned.
public struct Next: ~Copyable, Sendable {
    let interception: Interception
    /// The index of the next middleware in the chain.
    private let index: Int

    init(_ interception: Interception, at index: Int) {
        self.interception = interception
        self.index = index
    }

    /// Delivers a message to the following middlewares and the handler.
    ///
    /// An earlier deadline than before limits the attempt. When it passes, the following middlewares and the
    /// handler are cancelled, and this method returns without waiting for them.
    ///
    /// - Parameter message: The message that the middleware received, or a message made from it.
    /// - Returns: The reply's value.
    /// - Throws: A `RoutingError` about this message's URL. The signature does not name the error type,
    ///   because Swift 6.3 would then fail to compile a middleware that may throw before it calls `next`.
    public nonisolated(nonsending) func callAsFunction(_ message: Message) async throws -> any Sendable {
        // The `do` statement is part of the workaround that the documentation above describes.
        do throws(RoutingError) {
            return try await self.attempt(message)
        } catch {
            throw error
        }
    }

    /// Delivers a message to the following middlewares and the handler, and throws a typed error.
    package nonisolated(nonsending) func attempt(
        _ message: Message
    ) async throws(RoutingError) -> any Sendable {
        let interception = self.interception
        if message.hasDeadline, interception.isShortened(by: message.expiry) {
            return try await interception.attempt(message, from: self.index)
        }
        let links = interception.chain.links
        var index = self.index
        while index < links.count, !links[index].intercepts(message) { index += 1 }
        guard index < links.count else {
            if let outcome = interception.handleInPlace(message) { return try outcome.value() }
            return try await interception.callHandler(message)
        }
        do {
            return try await links[index].handle(
                message,
                MiddlewareContext(interception),
                Next(interception, at: index + 1)
            )
        } catch {
            throw interception.failure(error, of: message)
        }
    }
}
