internal import WaybillEventLoop
internal import WaybillRouting

/// The messages that are published to a pattern, which a loop reads one by one.
///
/// The subscription begins when the sequence is created. The subscription ends when the loop over the
/// sequence ends, the loop's task is cancelled, the bus is shut down, or ``cancel()`` is called. Messages
/// that have not been read then become dead letters.
///
/// Iterate over a sequence only once. Several loops would each receive only some of the messages, and the
/// first loop that ends would end the subscription for all loops.
public struct SubscriptionSequence: AsyncSequence, Sendable {
    /// The type `Never`, because a subscription can only end.
    public typealias Failure = Never

    private let owner: SubscriptionReader

    init(_ buffer: SubscriptionBuffer, _ subscription: Registration) {
        self.owner = SubscriptionReader(buffer, subscription)
    }

    /// The pattern of the subscription.
    public var pattern: String { self.owner.subscription.pattern }

    /// Ends the subscription, unless the subscription has ended already.
    public func cancel() { self.owner.subscription.cancel() }

    /// Takes the number of messages that were dropped before the last message that the loop has read.
    package func takeMissed() -> Int { self.owner.buffer.takeMissed() }

    /// Returns an iterator, which reads the messages of the subscription.
    public func makeAsyncIterator() -> Iterator { Iterator(self.owner) }

    /// A reader of the subscription's messages.
    public struct Iterator: AsyncIteratorProtocol {
        private let owner: SubscriptionReader
        /// When the iterator is released, this property ends the subscription, even if the sequence still
        /// exists.
        private let end: SubscriptionReader

        init(_ owner: SubscriptionReader) {
            self.owner = owner
            self.end = SubscriptionReader(owner.buffer, owner.subscription)
        }

        /// Returns the next message, or nil when the subscription has ended.
        public mutating func next() async -> Message? { await self.owner.nextMessage() }

        /// Returns the next message to a caller that is isolated to an actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Message? {
            await self.owner.nextMessage()
        }
    }
}

/// The owner of a subscription, which ends when the owner is released.
final class SubscriptionReader: Sendable {
    let buffer: SubscriptionBuffer
    let subscription: Registration

    init(_ buffer: SubscriptionBuffer, _ subscription: Registration) {
        self.buffer = buffer
        self.subscription = subscription
    }

    deinit { self.subscription.cancel() }

    nonisolated(nonsending) func nextMessage() async -> Message? {
        while true {
            await EventLoop.yieldIfDue()
            if Task.isCancelled { self.subscription.cancel() }
            let next: UnreadMessage? =
                switch self.buffer.take() {
                case .message(let message, _): message
                case .end: nil
                case .none: await self.wait()
                }
            guard let unread = next else { return nil }
            let (core, message) = (self.buffer.core, unread.message)
            if message.expiry.hasPassed(by: core.time) {
                self.buffer.fail(unread, .deadlineExceeded(url: message.parameters.url), for: .publisher)
            } else if let chain = unread.chain {
                if let message = await self.pass(unread, through: chain) { return message }
            } else {
                core.settle(unread, as: .replied(()), for: .subscriber(isLogged: true))
                return message
            }
        }
    }

    /// Passes a message through the middlewares that intercept it, in the reader's isolation.
    ///
    /// Returns nil when a middleware refused the message or answered the message itself.
    private nonisolated(nonsending) func pass(
        _ unread: UnreadMessage,
        through chain: MiddlewareChain
    ) async -> Message? {
        let core = self.buffer.core
        let arrived = Locked<Message?>(nil)
        let end = Handler(synchronous: { message in arrived.withLock { $0 = message } }, core: core)
        end.describe(as: .subscription(self.buffer.pattern))
        // Set no deadline for the interception, because no timer watches the message's deadline for a reader.
        let message = unread.message
        let interception = Interception(message, by: chain, to: .handler(end), on: core, hasWaited: true)
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
