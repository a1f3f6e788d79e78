internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

// What senders do, on any thread.
extension Mailbox {
    /// Lets a message in that is awaited; it must be performed afterwards.
    nonisolated func enter(_ message: borrowing Message) throws(RoutingError) {
        if self.unretainedLoop.isShutDown { throw .loopShutDown(url: message.parameters.url) }
        if self.whenFull == .suspend { return self.visit() }
        guard self.waiting.add(1, ordering: .relaxed).newValue > self.capacity else { return }
        if self.whenFull == .dropOldest {
            self.excess.add(1, ordering: .relaxed)
            return
        }
        self.waiting.subtract(1, ordering: .relaxed)
        throw .mailboxFull(url: message.parameters.url, limit: self.limit)
    }

    /// Leaves a message that nobody awaits.
    @inline(__always)
    nonisolated func post(_ parcel: consuming Parcel) throws(RoutingError) {
        if self.unretainedLoop.isShutDown { throw parcel.refused(RoutingError.loopShutDown) }
        guard Self.places(self.waiting.add(1, ordering: .relaxed).newValue) <= self.capacity else {
            return try self.postAnyway(parcel)
        }
        self.leave(parcel)
    }

    /// Leaves a message that nobody awaits and that has its place already.
    @inline(__always)
    nonisolated func leave(_ parcel: consuming Parcel) {
        // A closure cannot consume what it captures.
        var slot: Parcel? = consume parcel
        let isFirst = self.posted.withLock { box in
            if let parcel = slot.take() { box.append(parcel) } else { false }
        }
        if isFirst { self.collectLater() }
    }

    @inline(never)
    private nonisolated func collectLater() {
        self.eventLoop.execute { self.assumeOnLoop { $0.drain() } }
    }

    /// Leaves a message in a full mailbox, if that drops another one for it.
    @inline(never)
    private nonisolated func postAnyway(_ parcel: consuming Parcel) throws(RoutingError) {
        guard self.whenFull == .dropOldest else {
            self.giveBackPlace()
            throw parcel.refused { .mailboxFull(url: $0, limit: self.limit) }
        }
        // While the loop is busy nobody there drops anything, and the queue must not grow for ever.
        if let oldest = self.posted.withLock({ $0.takeOldest(ifMoreThan: self.limit) }) {
            self.waiting.subtract(1, ordering: .relaxed)
            oldest.drop(limit: self.limit)
        } else {
            self.excess.add(1, ordering: .relaxed)
        }
        self.leave(parcel)
    }
}
