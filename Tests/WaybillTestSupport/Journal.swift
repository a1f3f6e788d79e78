internal import Synchronization
internal import WaybillEventLoop

/// Records events of any thread, in order.
package final class Journal<Entry: Sendable>: Sendable {
    private let storage = Locked<[Entry]>([])

    package init() {}

    package var entries: [Entry] { self.storage.withLock { $0 } }

    package var count: Int { self.storage.withLock { $0.count } }

    package func add(_ entry: Entry) { self.storage.withLock { $0.append(entry) } }
}

extension Journal where Entry: Equatable {
    /// Waits until the journal has an entry, for as long as a slow machine may need.
    ///
    /// Returns false if none is added.
    package func comes(to entry: Entry) async -> Bool { await eventually { self.entries.contains(entry) } }
}

/// A counter for any thread.
package final class Tally: Sendable {
    private let number = Atomic(0)

    package init() {}

    package var count: Int { self.number.load(ordering: .sequentiallyConsistent) }

    package func add() { self.number.wrappingAdd(1, ordering: .sequentiallyConsistent) }
}

/// A flag that tells other code to stop.
package final class Flag: Sendable {
    private let raised = Atomic(false)

    package init() {}

    package var isRaised: Bool { self.raised.load(ordering: .relaxed) }

    package func raise() { self.raised.store(true, ordering: .relaxed) }
}
