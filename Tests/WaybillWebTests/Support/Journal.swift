internal import WaybillEventLoop

/// Remembers what happens on any thread, in order.
final class Journal: Sendable {
    private let storage = Locked<[String]>([])

    var entries: [String] { self.storage.withLock { $0 } }

    func add(_ entry: String) { self.storage.withLock { $0.append(entry) } }

    /// Waits until something has happened, for as long as a slow machine may need; false if it never does.
    func comes(to entry: String) async -> Bool {
        for _ in 0..<10_000 {
            if self.entries.contains(entry) { return true }
            try? await Task.sleep(for: .milliseconds(1))
        }
        return self.entries.contains(entry)
    }
}
