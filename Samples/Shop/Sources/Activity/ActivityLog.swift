internal import ShopAPI

/// The newest entries in a ring, which limits the memory of a shop that runs for years.
struct ActivityLog {
    static let limit = 1_000

    private var entries: [ActivityEntry] = []
    private var count = 0

    mutating func append(_ text: String) {
        let entry = ActivityEntry(number: self.count + 1, text: text)
        if self.count < Self.limit {
            self.entries.append(entry)
        } else {
            self.entries[self.count % Self.limit] = entry
        }
        self.count += 1
    }

    /// Returns the newest entries, oldest first.
    func recent(_ wanted: Int) -> [ActivityEntry] {
        let first = self.count - min(max(0, wanted), self.entries.count)
        return (first..<self.count).map { self.entries[$0 % Self.limit] }
    }
}
