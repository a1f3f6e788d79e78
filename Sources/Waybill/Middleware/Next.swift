public import WaybillEventLoop
public import WaybillRouting

/// The rest of a delivery: the middlewares that come after, and the handler.
///
/// Each call is one attempt to deliver: a middleware may call it never, once, or again. It cannot be copied or kept, so
/// when the middleware has returned, nothing comes after it any more.
public struct Next: ~Copyable, Sendable {
    // Held by whoever makes the first of these, until the last has returned: nobody can keep one.
    @usableFromInline let chain: Unretained<Chain>
    /// Which of the chain comes next; if there is none, the handler does.
    @usableFromInline let index: Int
    @usableFromInline let handler: Unretained<Handler>
    /// What bounds the rest; nil while there is nothing to know.
    @usableFromInline let stage: Unretained<Stage>?

    @inlinable
    init(
        _ chain: Unretained<Chain>,
        _ index: Int,
        _ handler: Unretained<Handler>,
        _ stage: Unretained<Stage>?
    ) {
        self.chain = chain
        self.index = index
        self.handler = handler
        self.stage = stage
    }

    /// Delivers a message to the rest.
    ///
    /// A message with an earlier deadline than before is bounded by it: whatever comes after is cancelled, and left
    /// behind, when it passes.
    ///
    /// - Parameter message: the message as it was given to the middleware, or one made from it.
    /// - Returns: the reply's value.
    /// - Throws: a `RoutingError`, the reason that there is none; it is about this message's URL. The type is not in the
    ///   signature, since Swift 6.3 does not compile a middleware then that may throw before it calls the rest.
    @inlinable
    @inline(__always)
    public nonisolated(nonsending) func callAsFunction(_ message: Message) async throws -> any Sendable {
        // Caught and thrown again for that reason as well.
        do throws(RoutingError) {
            return try await self.attempt(message)
        } catch {
            throw error
        }
    }

    /// The same, for middlewares that look at the reason.
    @inlinable
    @inline(__always)
    package nonisolated(nonsending) func attempt(
        _ message: Message
    ) async throws(RoutingError) -> any Sendable {
        if !message.hasDeadline {
            let links = self.chain.with { $0.links }
            if self.index < links.count {
                if links[self.index].isGlobal {
                    do {
                        return try await links[self.index].code.handle(
                            links[self.index].code.box,
                            message,
                            self.context,
                            self.following
                        )
                    } catch {
                        throw self.failure(error, of: message)
                    }
                }
            } else {
                if self.canCallInPlace(message) { return try self.callInPlace(message) }
            }
        }
        return try await self.deliver(message)
    }

    /// What a middleware is told of the delivery.
    @inlinable var context: MiddlewareContext { MiddlewareContext(self.handler) }

    /// What comes after the next of the chain.
    @inlinable var following: Next {
        Next(self.chain, self.index &+ 1, self.handler, self.stage)
    }

    /// Whether an answer that comes now is dropped: the message has ended otherwise.
    func isLate(_ message: Message) -> Bool {
        // The end of an exchange cancels the task that the message is delivered in, if it has one of its own.
        message.extras?.exchange?.isOver ?? (self.stage != nil && Task.isCancelled)
    }

    @usableFromInline
    @inline(never)
    func failure(_ error: any Error, of message: Message) -> RoutingError {
        let handler = self.handler.object
        return (handler.reason(for: error, of: message) ?? .thrown(error, around: message)).at(handler)
    }
}
