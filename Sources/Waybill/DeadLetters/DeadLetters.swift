internal import Synchronization
internal import WaybillEventLoop

extension MessageBus {
    /// The dead letters of the bus from now on, for one observer; there may be any number.
    ///
    /// ```swift
    /// let deadLetters = bus.deadLetters
    /// Task { for await deadLetter in deadLetters { print(deadLetter) } }
    /// ```
    ///
    /// These are all that ``BusStatistics/deadLettered`` counts: messages that reach no handler, whether
    /// their callers get the error or not, those that the uncaught handler sees, and those that were sent, or
    /// are the return leg of another, and failed. The dead letter is in the sequence before its caller has
    /// the error, or, if no caller awaits the message, before it is counted. The sequence ends when the bus
    /// has shut down or is dropped, and keeps neither the bus nor its loops. The latest 256 dead letters wait
    /// for a slow observer: see ``deadLetters(limit:)``.
    ///
    /// Without an observer nothing is kept and nothing paid for; dead letters that no caller awaits are
    /// warnings in the log in any case.
    public var deadLetters: DeadLetters { self.deadLetters(limit: 256) }

    /// The dead letters of the bus from now on, for one observer.
    ///
    /// - Parameter limit: how many wait for a slow observer, at least one; one more drops the oldest, which
    ///   is counted in ``DeadLetters/dropped``.
    /// - Returns: the dead letters, for one iteration.
    public func deadLetters(limit: Int) -> DeadLetters { self.core.deadLetters.watch(limit: limit) }
}

/// The dead letters of a bus as they come, for one observer.
///
/// It sees every dead letter from the moment ``MessageBus/deadLetters`` was asked for until it is dropped, or
/// the bus has shut down. An observer that is slower than the dead letters come loses the oldest, and can see
/// how many: the bus waits for no observer. A sequence is for one iteration at a time; a second observer asks
/// the bus for another.
public struct DeadLetters: AsyncSequence, Sendable {
    /// What a sequence yields.
    public typealias Element = DeadLetter

    /// It ends, and never fails.
    public typealias Failure = Never

    let stream: AsyncStream<DeadLetter>
    let watcher: DeadLetterObserver

    /// How many dead letters were dropped because they had not been read in time.
    public var dropped: Int { self.watcher.dropped.load(ordering: .relaxed) }

    /// Starts to read, with the dead letters that have come since the sequence was made.
    public func makeAsyncIterator() -> Iterator { Iterator(base: self.stream.makeAsyncIterator()) }

    /// Waits for dead letters, one at a time.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncStream<DeadLetter>.Iterator

        /// The next dead letter, or nil when the bus has shut down or the task is cancelled.
        public mutating func next() async -> DeadLetter? { await self.next(isolation: #isolation) }

        /// The next dead letter, or nil when the bus has shut down or the task is cancelled.
        ///
        /// - Parameter actor: the isolation to wait in.
        /// - Returns: the dead letter.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> DeadLetter? {
            await EventLoop.yieldIfDue()
            return await self.base.next(isolation: actor)
        }
    }
}

/// The observers of a bus's dead letters.
final class DeadLetterObservers: Sendable {
    private let count = Atomic<Int>(0)
    private let state = Locked(State())

    private struct State {
        var watchers: [ObjectIdentifier: DeadLetterObserver] = [:]
        var isClosed = false
    }

    /// Whether there is an observer; without one, a dead letter costs this look.
    @inline(__always)
    var isWatched: Bool { self.count.load(ordering: .acquiring) > 0 }

    func watch(limit: Int) -> DeadLetters {
        let (stream, continuation) = AsyncStream.makeStream(
            of: DeadLetter.self,
            bufferingPolicy: .bufferingNewest(max(1, limit))
        )
        let watcher = DeadLetterObserver(continuation)
        let id = ObjectIdentifier(watcher)
        // The ID stays unique: no other observer is allocated in this one's place while the bus holds it.
        continuation.onTermination = { [weak self] _ in self?.forget(id) }
        self.add(watcher)
        return DeadLetters(stream: stream, watcher: watcher)
    }

    /// Calls a closure for each dead letter.
    ///
    /// - Returns: what ends it.
    func watch(_ observer: @escaping @Sendable (DeadLetter) -> Void) -> @Sendable () -> Void {
        let watcher = DeadLetterObserver({ letter in
            observer(letter)
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
        // Called outside the lock: the closure may take it again.
        for watcher in self.state.withLock({ Array($0.watchers.values) }) { watcher.notify(letter) }
    }

    /// Ends the sequences of all observers.
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
        // Released outside the lock.
        _ = consume watcher
    }
}

/// One observer of dead letters, as the bus holds it.
final class DeadLetterObserver: Sendable {
    /// Dead letters that were not read in time.
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
    ///   - keep: called for each dead letter; returns whether it could keep it.
    ///   - onEnd: called when there will be no more.
    init(_ keep: @escaping @Sendable (DeadLetter) -> Bool, onEnd: @escaping @Sendable () -> Void = {}) {
        self.keep = keep
        self.end = onEnd
    }

    func notify(_ letter: DeadLetter) {
        if !self.keep(letter) { self.dropped.add(1, ordering: .relaxed) }
    }

    func finish() { self.end() }
}
