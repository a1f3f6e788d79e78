/// The messages that are published to a pattern, as somebody reads them.
///
/// The subscription begins when the sequence is made, and ends when the loop over it is left, its task is cancelled, the
/// bus is shut down, or ``cancel()`` is called. What nobody has read by then is a dead letter. It is for one loop: of
/// several, each gets some of the messages, and the first that is left ends them all.
public struct SubscriptionSequence: AsyncSequence, Sendable {
    /// A subscription ends, and does not fail.
    public typealias Failure = Never

    private let owner: FeedOwner

    init(_ feed: Feed, _ subscription: Registration) { self.owner = FeedOwner(feed, subscription) }

    /// The pattern that was subscribed to.
    public var pattern: String { self.owner.subscription.pattern }

    /// Ends the subscription; doing so again changes nothing.
    public func cancel() { self.owner.subscription.cancel() }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(self.owner) }

    /// Somebody who reads.
    public struct Iterator: AsyncIteratorProtocol {
        private let owner: FeedOwner
        /// What ends the subscription with the iterator, though the sequence may still be there.
        private let end: FeedOwner

        init(_ owner: FeedOwner) {
            self.owner = owner
            self.end = FeedOwner(owner.feed, owner.subscription)
        }

        /// The next message, or nil when the subscription has ended.
        public mutating func next() async -> Message? { await self.owner.next() }

        /// The next message, for a caller that is isolated to an actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> Message? {
            await self.owner.next()
        }
    }
}
