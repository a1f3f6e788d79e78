internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

// A serial mailbox finishes one message before it starts the next, whoever awaits it.
extension Mailbox {
    /// Waits until the messages that came before have ended.
    ///
    /// - Parameter id: the message's.
    /// - Returns: whether it is the message's turn, which ``endTurn()`` has to end; false if its task was cancelled.
    func takeTurn(_ id: CorrelationID) async -> Bool {
        if !self.isFree, await !self.waitForTurn(id) {
            self.giveUpQueue()
            return false
        }
        self.inProgress = id
        self.stay()
        return true
    }

    private func waitForTurn(_ id: CorrelationID) async -> Bool {
        let next = self.posted.withLock { $0.end }
        if self.line.isEmpty { self.turnNumber = next }
        let pause = Pause<Bool>(on: self.eventLoop)
        return await pause.wait(isolation: self) {
            self.line.append(Turn(id: id, pause: pause, next: next))
        } onCancel: {
            self.eventLoop.execute { self.assumeOnLoop { $0.giveUpTurn(pause) } }
        }
    }

    private func giveUpTurn(_ pause: Pause<Bool>) {
        guard let index = self.line.firstIndex(where: { $0.pause === pause }) else { return }
        self.line.remove(at: index)
        self.turnNumber = self.line.first?.next ?? .max
        pause.resume(returning: false)
    }

    /// Ends the message in progress of a serial mailbox and has the next started.
    ///
    /// Before anybody knows of its outcome: what they send then, its return message for one, finds the place free.
    @inline(__always)
    func endTurn() {
        guard self.isSerial else { return }
        self.inProgress = nil
        self.freePlace()
        if !self.isAdvancing { self.goOn() }
    }

    /// Starts the next message, but not in the task that has ended one: who comes next has nothing to do with that.
    private func goOn() {
        if self.batch.isEmpty { self.collect(isLast: true) }
        if !self.line.isEmpty, self.number >= self.turnNumber {
            self.startTurn()
        } else if !self.batch.isEmpty {
            self.advanceLater()
        }
    }

    /// Whether nobody is before a message that has come to the loop now.
    var isFree: Bool {
        self.inProgress == nil && !self.isAdvancing && !self.isPausing && self.line.isEmpty && !self.hasPosted
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
        turn.pause.resume(returning: true)
    }

    private func advanceLater() {
        self.isPausing = true
        self.eventLoop.execute { self.assumeOnLoop { $0.advance() } }
    }

    private func start(inTurn parcel: borrowing Parcel) {
        self.inProgress = parcel.message.id
        if self.isToBeDropped {
            self.endTurn()
            parcel.drop(limit: self.limit)
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
            self.dropOneLess()
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
