internal import Synchronization
internal import WaybillEventLoop

/// The dead letters of a bus as they come, for one who watches.
///
/// It sees every dead letter from the moment ``MessageBus/deadLetters`` was asked for until it is dropped, or the bus has
/// shut down. A watcher that is slower than the letters come loses the oldest, and can see how many: the bus waits for
/// nobody. A sequence is for one iteration at a time; who else wants to watch asks the bus for another.
public struct DeadLetters: AsyncSequence, Sendable {
    /// What a sequence yields.
    public typealias Element = DeadLetter

    /// It ends, and never fails.
    public typealias Failure = Never

    let stream: AsyncStream<DeadLetter>
    let watcher: DeadLetterWatcher

    /// How many letters were dropped since nobody had read them in time.
    public var dropped: Int { self.watcher.dropped.load(ordering: .relaxed) }

    /// Starts to read; the letters that have come since the sequence was made are the first.
    public func makeAsyncIterator() -> Iterator { Iterator(base: self.stream.makeAsyncIterator()) }

    /// Waits for dead letters, one at a time.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncStream<DeadLetter>.Iterator

        /// The next dead letter, or nil when the bus has shut down or the task is cancelled.
        public mutating func next() async -> DeadLetter? { await self.next(isolation: #isolation) }

        /// The next dead letter, or nil when the bus has shut down or the task is cancelled.
        ///
        /// - Parameter actor: whose isolation to wait in.
        /// - Returns: the letter.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> DeadLetter? {
            await EventLoop.yieldIfDue()
            return await self.base.next(isolation: actor)
        }
    }
}
