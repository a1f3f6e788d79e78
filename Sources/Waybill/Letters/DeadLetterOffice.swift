internal import Synchronization
internal import WaybillEventLoop

/// Where dead letters are shown to those who watch.
final class DeadLetterOffice: Sendable {
    private let count = Atomic<Int>(0)
    private let state = Locked(State())

    private struct State {
        var watchers: [ObjectIdentifier: DeadLetterWatcher] = [:]
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
        let watcher = DeadLetterWatcher(continuation)
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
        let watcher = DeadLetterWatcher({ letter in
            tell(letter)
            return true
        })
        self.add(watcher)
        return { [weak self] in self?.forget(ObjectIdentifier(watcher)) }
    }

    private func add(_ watcher: DeadLetterWatcher) {
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
