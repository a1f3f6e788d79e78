internal import DequeModule

/// The messages that wait in a mailbox and that nobody awaits, oldest first.
struct PostBox: ~Copyable, Sendable {
    private var parcels = UniqueDeque<Parcel>()
    private var isCollected = false

    /// Leaves a message.
    ///
    /// - Returns: whether somebody has to be sent to collect; false while somebody is on the way.
    mutating func append(_ parcel: consuming Parcel) -> Bool {
        self.parcels.append(parcel)
        defer { self.isCollected = true }
        return !self.isCollected
    }

    /// Takes all messages there are, in exchange for an empty queue with the memory of an earlier one.
    ///
    /// - Parameters:
    ///   - batch: the empty queue, and afterwards what there was.
    ///   - isLast: whether who was sent to collect goes away if there is nothing.
    mutating func collect(_ batch: inout UniqueDeque<Parcel>, isLast: Bool) {
        if self.parcels.isEmpty {
            if isLast { self.isCollected = false }
        } else {
            swap(&self.parcels, &batch)
        }
    }

    /// Takes the oldest message if there are as many as a limit.
    mutating func takeOldest(ifMoreThan limit: Int) -> Parcel? {
        self.parcels.count >= limit ? self.parcels.popFirst() : nil
    }
}
