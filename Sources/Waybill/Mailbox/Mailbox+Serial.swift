internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

// A serial mailbox finishes one message before it starts the next, whoever awaits it.
extension Mailbox {
    /// Waits until the messages that came before have ended.
    ///
    /// - Parameters:
    ///   - id: the message's.
    ///   - core: the bus of its caller.
    /// - Returns: whether it is the message's turn; false if it was dropped. ``endTurn(_:)`` must follow a turn.
    func takeTurn(_ id: CorrelationID, _ core: BusCore) async -> Bool {
        if !self.isFree(core) {
            self.lineUp()
            await withCheckedContinuation { self.line.append(.task(Turn.Waiter(id: id, continuation: $0))) }
        }
        if self.isToBeDropped {
            self.endTurn(core)
            return false
        }
        self.inProgress = id
        return true
    }

    /// Ends the message in progress of a serial mailbox and starts the next.
    @inline(__always)
    func endTurn(_ core: @autoclosure () -> BusCore) {
        guard self.isSerial else { return }
        self.inProgress = nil
        self.freePlace()
        // Who comes next has nothing to do with the task that has ended.
        if !self.isAdvancing { core().apart { self.advance() } }
    }

    /// Whether nobody is before a message that has come to the loop now.
    func isFree(_ core: BusCore) -> Bool {
        // Whoever sent it, it was not the task that happens to come by.
        if self.inProgress == nil, !self.isAdvancing { core.apart { self.advance() } }
        return self.inProgress == nil && !self.isAdvancing && !self.isPausing
    }

    /// Starts one message after the other, as long as each ends at once.
    func advance() {
        guard !self.isAdvancing else { return }
        self.isAdvancing = true
        self.isPausing = false
        defer { self.isAdvancing = false }
        while self.inProgress == nil {
            guard self.unretainedLoop.consumeDeliveryBudget() else { return self.advanceLater() }
            if let next = self.line.popFirst() {
                self.start(next)
            } else if let parcel = self.next(isLast: true) {
                self.start(inTurn: parcel)
            } else {
                return
            }
        }
    }

    private func advanceLater() {
        self.isPausing = true
        self.eventLoop.execute { self.assumeOnLoop { $0.advance() } }
    }

    private func start(_ next: consuming Turn) {
        switch consume next {
        case .parcel(let parcel): self.start(inTurn: parcel)
        case .task(let waiter):
            self.inProgress = waiter.id
            waiter.continuation.resume()
        }
    }

    private func start(inTurn parcel: borrowing Parcel) {
        self.inProgress = parcel.message.id
        if self.isToBeDropped {
            parcel.drop(limit: self.limit)
            self.endTurn(parcel.handler.core)
        } else {
            self.run(parcel)
        }
    }

    /// Puts what was posted into the line, since somebody is to come behind it.
    private func lineUp() {
        repeat {
            while let parcel = self.batch.popFirst() { self.line.append(.parcel(parcel)) }
            self.posted.withLock { $0.collect(&self.batch, isLast: false) }
        } while !self.batch.isEmpty
    }

    /// Ends what nobody awaits and whose handler has gone: the message in progress may take for ever.
    private func sweep() {
        self.lineUp()
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
