internal import Synchronization

/// Counts what happens on any thread.
final class Tally: Sendable {
    private let number = Atomic(0)

    var count: Int { self.number.load(ordering: .sequentiallyConsistent) }

    func add() { self.number.wrappingAdd(1, ordering: .sequentiallyConsistent) }
}
