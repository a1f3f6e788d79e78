internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

// A serial mailbox finishes one message before it starts the next, whoever awaits it.
extension Mailbox {
    /// Waits until the messages that came before have ended.
    ///
    /// - Returns: whether it is the message's turn; false if it was dropped. ``endTurn()`` must follow a turn.
    func takeTurn(_ id: CorrelationID) async -> Bool {
        if self.isFree() {
            if self.isToBeDropped {
                self.freePlace()
                return false
            }
            self.inProgress = id
            return true
        }
        return await withCheckedContinuation { continuation in
            self.line.append(.task(Turn.Waiter(id: id, continuation: continuation)))
            self.trim()
        }
    }

    /// Ends the message in progress and starts the next.
    func endTurn() {
        self.inProgress = nil
        self.freePlace()
        self.advance()
    }

    /// Whether nobody is before a message that has come to the loop now.
    func isFree() -> Bool {
        self.collect()
        self.advance()
        return self.inProgress == nil && self.line.isEmpty
    }

    /// Moves what was posted into the line.
    ///
    /// - Parameter isLast: whether who was sent to collect goes away afterwards.
    func collect(isLast: Bool = false) {
        var isDone = false
        // Who was sent to collect goes away only when there was nothing left.
        while !isDone {
            self.posted.withLock { $0.collect(&self.batch, isLast: isLast) }
            isDone = self.batch.isEmpty || !isLast
            while let parcel = self.batch.popFirst() { self.line.append(.parcel(parcel)) }
        }
        self.trim()
    }

    /// Drops who has waited longest, as many as there are too many.
    private func trim() {
        guard self.whenFull == .dropOldest else { return }
        while self.excess.load(ordering: .relaxed) > 0 {
            guard let oldest = self.line.popFirst() else { return }
            self.excess.subtract(1, ordering: .relaxed)
            self.freePlace()
            oldest.drop(limit: self.limit)
        }
    }

    /// Starts one message after the other, as long as each ends at once.
    func advance() {
        guard !self.isAdvancing else { return }
        self.isAdvancing = true
        defer { self.isAdvancing = false }
        while self.inProgress == nil, !self.line.isEmpty {
            guard self.eventLoop.consumeDeliveryBudget() else {
                return self.eventLoop.execute { self.assumeOnLoop { $0.advance() } }
            }
            guard let next = self.line.popFirst() else { return }
            self.start(next)
        }
    }

    private func start(_ next: consuming Turn) {
        switch consume next {
        case .parcel(let parcel):
            self.inProgress = parcel.message.id
            parcel.handler.core.apart { self.run(parcel) { $0.endTurn() } }
        case .task(let waiter):
            self.inProgress = waiter.id
            waiter.continuation.resume(returning: true)
        }
    }

    /// Ends what nobody awaits and whose handler has gone: the message in progress may take for ever.
    private func sweep() {
        self.collect()
        for _ in 0..<self.line.count {
            guard let next = self.line.popFirst() else { return }
            if next.isStranded {
                self.freePlace()
                next.strand()
            } else {
                self.line.append(next)
            }
        }
    }

    /// A handler has gone.
    nonisolated func handlerHasGone() {
        guard self.isSerial || self.whenFull == .suspend else { return }
        self.eventLoop.execute {
            self.assumeOnLoop { mailbox in
                // First those who wait for a place, or they would get those that become free.
                mailbox.recheckPlaces()
                if mailbox.isSerial { mailbox.sweep() }
            }
        }
    }
}
