internal import Synchronization

/// Somebody who watches dead letters, as the bus knows him.
final class DeadLetterWatcher: Sendable {
    /// Letters that he has not read in time.
    let dropped = Atomic<Int>(0)
    private let continuation: AsyncStream<DeadLetter>.Continuation

    init(_ continuation: AsyncStream<DeadLetter>.Continuation) { self.continuation = continuation }

    func tell(_ letter: DeadLetter) {
        guard case .dropped = self.continuation.yield(letter) else { return }
        self.dropped.add(1, ordering: .relaxed)
    }

    func finish() { self.continuation.finish() }
}
