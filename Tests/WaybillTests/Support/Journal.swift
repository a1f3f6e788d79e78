internal import WaybillEventLoop

/// Remembers what happens on any thread, in order.
final class Journal<Entry: Sendable>: Sendable {
    private let storage = Locked<[Entry]>([])

    var entries: [Entry] { self.storage.withLock { $0 } }

    var count: Int { self.storage.withLock { $0.count } }

    func add(_ entry: Entry) { self.storage.withLock { $0.append(entry) } }
}
