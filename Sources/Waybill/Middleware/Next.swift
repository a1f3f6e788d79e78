internal import WaybillEventLoop
internal import WaybillRouting

/// The rest of a delivery: the middlewares that come after, and the handler.
///
/// Each call is one attempt to deliver: a middleware may call it never, once, or again. It cannot be copied
/// or kept, so when the middleware has returned, nothing comes after it any more.
public struct Next: ~Copyable, Sendable {
    let interception: Interception
    /// Which middleware of the chain comes next; the handler does after the last one.
    private let index: Int

    init(_ interception: Interception, at index: Int) {
        self.interception = interception
        self.index = index
    }

    /// Delivers a message to the rest.
    ///
    /// A message with an earlier deadline than before is bounded by it: the rest is cancelled, and no longer
    /// waited for, when it passes.
    ///
    /// - Parameter message: The message as it was given to the middleware, or one made from it.
    /// - Returns: The reply's value.
    /// - Throws: A `RoutingError`, the reason that there is no reply; it is about this message's URL. The type
    ///   is not in the signature, since Swift 6.3 does not compile a middleware then that may throw before it
    ///   calls the rest.
    public nonisolated(nonsending) func callAsFunction(_ message: Message) async throws -> any Sendable {
        // Caught and thrown again for that reason as well.
        do throws(RoutingError) {
            return try await self.attempt(message)
        } catch {
            throw error
        }
    }

    /// Delivers a message to the rest, for middlewares that look at the reason of a failure.
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
            if let outcome = interception.handleAtOnce(message) { return try outcome.value() }
            return try await interception.handle(message)
        }
        do {
            return try await links[index].code.handle(
                message,
                MiddlewareContext(interception),
                Next(interception, at: index + 1)
            )
        } catch {
            throw interception.failure(error, of: message)
        }
    }
}
