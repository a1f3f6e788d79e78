internal import Synchronization
internal import WaybillEventLoop

extension MessageBus {
    /// A sequence of the dead letters that follow this call, for one observer.
    ///
    /// ```swift
    /// let deadLetters = bus.deadLetters
    /// Task { for await deadLetter in deadLetters { print(deadLetter) } }
    /// ```
    ///
    /// The sequence contains all messages that ``BusStatistics/deadLettered`` counts:
    ///
    /// - messages that reach no handler, including messages whose callers receive the error and messages that
    ///   the handler for unmatched URLs receives;
    /// - failed messages that no caller awaited, including messages to return URLs;
    /// - published messages that were not read from a subscription.
    ///
    /// A dead letter is added to the sequence before its caller receives the error. If no caller awaits the
    /// message, the dead letter is added before the failure is counted. The sequence keeps neither the bus
    /// nor its loops alive. For a slow observer, the bus keeps the latest 256 dead letters: see
    /// ``deadLetters(limit:)``.
    ///
    /// Without an observer, dead letters are not kept and cost nothing. The bus always logs a warning for a
    /// dead letter that no caller awaits.
    public var deadLetters: DeadLetters { self.deadLetters(limit: 256) }

    /// Returns a sequence of the dead letters that follow this call, for one observer.
    ///
    /// - Parameter limit: The maximum number of unread dead letters, at least one. Beyond this number, the
    ///   oldest dead letter is dropped and counted in ``DeadLetters/dropped``.
    /// - Returns: A sequence for one iteration.
    public func deadLetters(limit: Int) -> DeadLetters { self.core.deadLetters.watch(limit: limit) }
}

/// The dead letters of a bus in the order in which they occur, for one iteration by one observer.
///
/// The sequence contains every dead letter from the access to ``MessageBus/deadLetters`` until the sequence
/// is released, or the bus is shut down or released. The bus does not wait for observers. If an observer is
/// too slow, the oldest dead letters are dropped and counted. Each observer needs its own sequence.
public struct DeadLetters: AsyncSequence, Sendable {
    /// The element of the sequence.
    public typealias Element = DeadLetter

    /// The sequence cannot fail.
    public typealias Failure = Never

    let stream: AsyncStream<DeadLetter>
    let observer: Observer<DeadLetter>

    /// The number of dead letters that were dropped because they were not read in time.
    public var dropped: Int { self.observer.dropped.load(ordering: .relaxed) }

    /// Returns an iterator over the dead letters that have occurred since the sequence was created.
    public func makeAsyncIterator() -> Iterator { Iterator(base: self.stream.makeAsyncIterator()) }

    /// An iterator that waits for dead letters, one at a time.
    public struct Iterator: AsyncIteratorProtocol {
        var base: AsyncStream<DeadLetter>.Iterator

        /// Returns the next dead letter, or nil when the bus has been shut down or the task is cancelled.
        public mutating func next() async -> DeadLetter? { await self.next(isolation: #isolation) }

        /// Returns the next dead letter, or nil when the bus has been shut down or the task is cancelled.
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
        /// The observers in the order in which they were added, which is also the order of their calls.
        var observers: [Observer<DeadLetter>] = []
        var isClosed = false
    }

    /// Whether an observer exists; without an observer, a dead letter costs only this check.
    var isWatched: Bool { self.count.load(ordering: .acquiring) > 0 }

    func watch(limit: Int) -> DeadLetters {
        // The ID is unique: while the bus holds this observer, no other observer can have the same address.
        let (observer, stream) = Observer<DeadLetter>.buffered(limit: limit) { [weak self] id in
            self?.forget(id)
        }
        self.add(observer)
        return DeadLetters(stream: stream, observer: observer)
    }

    /// Calls a closure for each dead letter, until the result is called.
    func watch(_ body: @escaping @Sendable (DeadLetter) -> Void) -> @Sendable () -> Void {
        let observer = Observer(body)
        self.add(observer)
        return { [weak self] in self?.forget(ObjectIdentifier(observer)) }
    }

    private func add(_ observer: Observer<DeadLetter>) {
        let isOpen = self.state.withLock { state in
            guard !state.isClosed else { return false }
            state.observers.append(observer)
            self.count.store(state.observers.count, ordering: .releasing)
            return true
        }
        if !isOpen { observer.finish() }
    }

    func show(_ letter: DeadLetter) {
        // Call the observers outside of the lock, because an observer may take the lock again.
        for observer in self.state.withLock({ $0.observers }) { observer.notify(letter) }
    }

    func close() {
        let observers = self.state.withLock { state in
            state.isClosed = true
            self.count.store(0, ordering: .releasing)
            return exchange(&state.observers, with: [])
        }
        for observer in observers { observer.finish() }
    }

    private func forget(_ id: ObjectIdentifier) {
        _ = self.state.withLock { state in
            defer { self.count.store(state.observers.count, ordering: .releasing) }
            let index = state.observers.firstIndex { ObjectIdentifier($0) == id }
            return index.map { state.observers.remove(at: $0) }
        }
    }
}
