internal import WaybillEventLoop
internal import WaybillRouting

/// The messages that are published to a pattern, to be read one after the other.
///
/// The subscription begins when the sequence is made, and ends when the loop over it is left, its task is
/// cancelled, the bus is shut down, or ``cancel()`` is called. What has not been read by then is a dead
/// letter. It is for one loop: of several, each gets some of the messages, and the first that is left ends
/// them all.
public struct SubscriptionSequence: AsyncSequence, Sendable {
    /// A subscription ends, and does not fail.
    public typealias Failure = Never

    private let owner: SubscriptionReader

    init(_ buffer: SubscriptionBuffer, _ subscription: Registration) {
        self.owner = SubscriptionReader(buffer, subscription)
    }

    /// The pattern that was subscribed to.
    public var pattern: String { self.owner.subscription.pattern }

    /// Ends the subscription; doing so again changes nothing.
    public func cancel() { self.owner.subscription.cancel() }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(self.owner) }

    /// One reader of the messages.
    public struct Iterator: AsyncIteratorProtocol {
        private let owner: SubscriptionReader
        /// Ends the subscription with the iterator, although the sequence may still exist.
        private let end: SubscriptionReader

        init(_ owner: SubscriptionReader) {
            self.owner = owner
            self.end = SubscriptionReader(owner.buffer, owner.subscription)
        }

        /// The next message, or nil when the subscription has ended.
        public mutating func next() async -> Message? { await self.owner.next() }

        /// The next message, for a caller that is isolated to an actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Message? {
            await self.owner.next()
        }
    }
}

/// Ends a subscription when all its sequences and iterators are released.
final class SubscriptionReader: Sendable {
    let buffer: SubscriptionBuffer
    let subscription: Registration

    init(_ buffer: SubscriptionBuffer, _ subscription: Registration) {
        self.buffer = buffer
        self.subscription = subscription
    }

    deinit { self.subscription.cancel() }

    /// The next message, or nil when the subscription has ended.
    nonisolated(nonsending) func next() async -> Message? {
        while true {
            await EventLoop.yieldIfDue()
            if Task.isCancelled { self.subscription.cancel() }
            let taken = self.buffer.take()
            if taken.isOver { return nil }
            guard let unread = if let message = taken.message { message } else { await self.wait() } else {
                return nil
            }
            let (core, message) = (self.buffer.core, unread.message)
            if message.expiry.hasPassed(by: core.time) {
                let error = RoutingError.deadlineExceeded(url: message.parameters.url)
                core.settle(unread, as: .failed(error), for: .publisher)
            } else if let chain = unread.chain {
                if let message = await self.pass(unread, through: chain) { return message }
            } else {
                core.settle(unread, as: .replied(()), for: .subscriber(isLogged: true))
                return message
            }
        }
    }

    /// Takes a message through the middlewares around its delivery, where the reader is.
    ///
    /// - Returns: The message as the last one passed it on; nil if one of them refused it, or answered in the
    ///   reader's place.
    private nonisolated(nonsending) func pass(
        _ unread: UnreadMessage,
        through chain: MiddlewareChain
    ) async -> Message? {
        let core = self.buffer.core
        let arrived = Locked<Message?>(nil)
        let end = Handler(
            immediate: { message in arrived.withLock { $0 = message } },
            mailbox: core.homeMailbox,
            core: core
        )
        end.describe(as: .subscription(self.subscription.pattern))
        // The deadline is not watched yet: a reader does not watch it.
        let interception = Interception(
            unread.message,
            by: chain,
            to: .handler(end),
            on: core,
            hasWaited: true
        )
        let outcome = await interception.outcome().at(end)
        core.settle(unread, as: outcome, for: .publisher, at: end)
        return outcome.isReply ? arrived.withLock { $0 } : nil
    }

    private nonisolated(nonsending) func wait() async -> UnreadMessage? {
        let reader = SubscriptionBuffer.Reader(on: .current)
        return await reader.wait(isolation: #isolation) {
            self.buffer.read(reader)
        } onCancel: {
            self.subscription.cancel()
        }
    }
}
