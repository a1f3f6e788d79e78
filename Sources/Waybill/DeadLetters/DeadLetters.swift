internal import Synchronization
internal import WaybillEventLoop

extension MessageBus {
    /// The dead letters of the bus from now on, for one who watches; any number may.
    ///
    /// ```swift
    /// let letters = bus.deadLetters
    /// Task { for await letter in letters { print(letter) } }
    /// ```
    ///
    /// These are all that ``BusStatistics/deadLettered`` counts: messages that reach no handler, whether their callers are
    /// told or not, those that the uncaught handler sees, and those that were sent, or are the return leg of another,
    /// and failed. By the time that a caller has its error, or that nobody awaits it and it is counted, the letter is
    /// there. The sequence ends when the bus has shut down or is dropped, and keeps neither the bus nor its loops. The
    /// latest 256 letters wait for a watcher that is slow: see ``deadLetters(limit:)``.
    ///
    /// While nobody watches, nothing is kept and nothing paid for; messages that nobody awaits are warnings in the
    /// log in any case.
    public var deadLetters: DeadLetters { self.deadLetters(limit: 256) }

    /// The dead letters of the bus from now on, for one who watches.
    ///
    /// - Parameter limit: how many wait for a watcher that is slow, at least one; one more drops the oldest, which is
    ///   counted in ``DeadLetters/dropped``.
    /// - Returns: the letters, for one iteration.
    public func deadLetters(limit: Int) -> DeadLetters { self.core.deadLetters.watch(limit: limit) }
}

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
    let watcher: DeadLetterObserver

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

/// Where dead letters are shown to those who watch.
final class DeadLetterObservers: Sendable {
    private let count = Atomic<Int>(0)
    private let state = Locked(State())

    private struct State {
        var watchers: [ObjectIdentifier: DeadLetterObserver] = [:]
        var isClosed = false
    }

    /// Whether anybody watches: while nobody does, a dead letter costs this look.
    @inline(__always)
    var isWatched: Bool { self.count.load(ordering: .acquiring) > 0 }

    func watch(limit: Int) -> DeadLetters {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DeadLetter.self,
            bufferingPolicy: .bufferingNewest(max(1, limit))
        )
        let watcher = DeadLetterObserver(continuation)
        let id = ObjectIdentifier(watcher)
        // He holds the watcher no longer than the bus does, so that no other one has its place in memory.
        continuation.onTermination = { [weak self] _ in self?.forget(id) }
        self.add(watcher)
        return DeadLetters(stream: stream, watcher: watcher)
    }

    /// Calls a closure for each letter.
    ///
    /// - Returns: what ends it.
    func watch(_ tell: @escaping @Sendable (DeadLetter) -> Void) -> @Sendable () -> Void {
        let watcher = DeadLetterObserver({ letter in
            tell(letter)
            return true
        })
        self.add(watcher)
        return { [weak self] in self?.forget(ObjectIdentifier(watcher)) }
    }

    private func add(_ watcher: DeadLetterObserver) {
        let isOpen = self.state.withLock { state in
            guard !state.isClosed else { return false }
            state.watchers[ObjectIdentifier(watcher)] = watcher
            self.count.store(state.watchers.count, ordering: .releasing)
            return true
        }
        if !isOpen { watcher.finish() }
    }

    func show(_ letter: DeadLetter) {
        // Told outside the lock: who is told may come back for it.
        for watcher in self.state.withLock({ Array($0.watchers.values) }) { watcher.tell(letter) }
    }

    /// Tells everybody that there will be no more.
    func close() {
        let watchers = self.state.withLock { state in
            defer { state.watchers = [:] }
            state.isClosed = true
            self.count.store(0, ordering: .releasing)
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }

    private func forget(_ id: ObjectIdentifier) {
        let watcher = self.state.withLock { state in
            defer { self.count.store(state.watchers.count, ordering: .releasing) }
            return state.watchers.removeValue(forKey: id)
        }
        // Let go of outside the lock.
        _ = consume watcher
    }
}

/// Somebody who watches dead letters, as the bus knows him.
final class DeadLetterObserver: Sendable {
    /// Letters that he has not read in time.
    let dropped = Atomic<Int>(0)
    private let keep: @Sendable (DeadLetter) -> Bool
    private let end: @Sendable () -> Void

    convenience init(_ continuation: AsyncStream<DeadLetter>.Continuation) {
        self.init(
            { if case .dropped = continuation.yield($0) { false } else { true } },
            onEnd: { continuation.finish() }
        )
    }

    /// - Parameters:
    ///   - keep: is told each letter; whether it could keep it.
    ///   - onEnd: is told that there will be no more.
    init(_ keep: @escaping @Sendable (DeadLetter) -> Bool, onEnd: @escaping @Sendable () -> Void = {}) {
        self.keep = keep
        self.end = onEnd
    }

    func tell(_ letter: DeadLetter) {
        if !self.keep(letter) { self.dropped.add(1, ordering: .relaxed) }
    }

    func finish() { self.end() }
}
