internal import DequeModule

/// The messages that wait in a mailbox and that nobody awaits, oldest first.
///
/// They are numbered in the order in which they are left, so that others can say between which of them they come.
struct PostBox: ~Copyable, Sendable {
    private var parcels = UniqueDeque<Parcel>()
    private var isCollected = false

    /// The number of the oldest message, or of the next one to come.
    private(set) var first = 0

    /// The number of the next message to come.
    var end: Int { self.first + self.parcels.count }

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
    /// - Returns: the number of the first message that was taken, or of the next one to come.
    mutating func collect(_ batch: inout UniqueDeque<Parcel>, isLast: Bool) -> Int {
        let first = self.first
        if self.parcels.isEmpty {
            if isLast { self.isCollected = false }
        } else {
            self.first = self.end
            swap(&self.parcels, &batch)
        }
        return first
    }

    /// Takes the oldest message if there are as many as a limit.
    mutating func takeOldest(ifMoreThan limit: Int) -> Parcel? {
        guard self.parcels.count >= limit, let oldest = self.parcels.popFirst() else { return nil }
        self.first += 1
        return oldest
    }
}
