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

    var count: Int { self.parcels.count }

    /// Takes the oldest message, ahead of whoever is on the way to collect it.
    mutating func popFirst() -> Parcel? { self.parcels.popFirst() }
}
