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
            let next = self.posted.withLock { $0.end }
            if self.line.isEmpty { self.turnNumber = next }
            let pause = Pause<Void>(on: self.eventLoop)
            self.line.append(Turn(id: id, pause: pause, next: next))
            await pause.wait()
        }
        if self.isToBeDropped {
            self.endTurn(core)
            return false
        }
        self.inProgress = id
        self.stay()
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
            if self.batch.isEmpty { self.collect(isLast: true) }
            if self.number >= self.turnNumber {
                self.startTurn()
            } else if let parcel = self.batch.popFirst() {
                self.number += 1
                self.start(inTurn: parcel)
            } else {
                return
            }
        }
    }

    /// Lets the first of those who wait go on.
    private func startTurn() {
        let turn = self.line.removeFirst()
        self.turnNumber = self.line.first?.next ?? .max
        self.inProgress = turn.id
        turn.pause.resume(returning: ())
    }

    private func advanceLater() {
        self.isPausing = true
        self.eventLoop.execute { self.assumeOnLoop { $0.advance() } }
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

    /// Ends what nobody awaits and whose handler has gone: the message in progress may take for ever.
    private func sweep() {
        var kept = UniqueDeque<Parcel>()
        let first = self.hasPosted ? self.number : 0
        for index in self.line.indices {
            while self.hasPosted, self.number < self.line[index].next { self.sweepNext(into: &kept) }
            self.line[index].next = first + kept.count
        }
        while self.hasPosted { self.sweepNext(into: &kept) }
        swap(&self.batch, &kept)
        self.number = first
        self.turnNumber = self.line.first?.next ?? .max
    }

    private func sweepNext(into kept: inout UniqueDeque<Parcel>) {
        guard let parcel = self.batch.popFirst() else { return }
        self.number += 1
        if parcel.handler.isGone {
            self.freePlace()
            parcel.deadLetter(parcel.handler.reason(parcel.message.parameters.url))
        } else {
            kept.append(parcel)
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
