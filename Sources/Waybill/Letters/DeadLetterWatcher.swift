internal import Synchronization

/// Somebody who watches dead letters, as the bus knows him.
final class DeadLetterWatcher: Sendable {
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
