internal import DequeModule

/// The messages that wait in a mailbox and that nobody awaits, oldest first.
struct PostBox {
    private var parcels: Deque<Parcel> = []
    private var isCollected = false

    /// - Returns: whether somebody has to be sent to collect; false while somebody is on the way.
    mutating func append(_ parcel: Parcel) -> Bool {
        self.parcels.append(parcel)
        defer { self.isCollected = true }
        return !self.isCollected
    }

    mutating func takeFirst() -> Parcel? {
        guard let first = self.parcels.popFirst() else {
            self.isCollected = false
            return nil
        }
        return first
    }

    mutating func takeAll() -> Deque<Parcel>? {
        guard !self.parcels.isEmpty else { return nil }
        defer { self.parcels = [] }
        return self.parcels
    }
}
