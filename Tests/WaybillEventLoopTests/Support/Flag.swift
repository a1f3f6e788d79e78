internal import Synchronization

/// Tells others to stop.
final class Flag: Sendable {
    private let raised = Atomic(false)

    var isRaised: Bool { self.raised.load(ordering: .relaxed) }

    func raise() { self.raised.store(true, ordering: .relaxed) }
}
