internal import WaybillEventLoop
internal import WaybillRouting

extension Mailbox {
    /// The decision when an awaited message is handled: at once or later.
    enum Place {
        /// The handler begins within the current call.
        case now
        /// The message waits in the queue. `takesSlot` states whether it counts against the mailbox's limit.
        case queue(takesSlot: Bool)
    }

    /// Decides whether the handler of an awaited message begins at once or the message waits in the queue.
    ///
    /// A handler begins at once when the calling thread runs the loop and no other message precedes this
    /// message. If the mailbox is serial and the handler may suspend, this method then also begins the turn
    /// of the message, and the caller must call ``endTurn()`` after the turn. A handler that cannot suspend
    /// needs no turn, because the loop runs nothing else until the handler returns.
    @inline(__always)
    nonisolated func place(_ id: CorrelationID, isSynchronous: Bool) -> Place {
        if self.isClear, isSynchronous || !self.isSerial || self.beginTurn(of: id) { return .now }
        return .queue(takesSlot: self.takesSlot)
    }

    /// Whether the calling thread runs the loop, and no other message is waiting or in progress.
    @inline(__always)
    nonisolated var isClear: Bool { self.heldLoop.isInEventLoop && !self.isOccupied }

    /// Begins the turn of a message in a serial mailbox, unless another message precedes the message.
    @inline(never)
    private nonisolated func beginTurn(of id: CorrelationID) -> Bool {
        self.withQueue { $0.beginTurn(of: id) }
    }

    /// Whether an awaited message that the calling thread sends counts against the limit while the message
    /// waits.
    ///
    /// The message takes no slot of a mailbox that suspends senders, because its caller waits anyway. It also
    /// takes no slot when the calling thread runs the loop of a mailbox that is not serial, because the loop
    /// is then about to handle the preceding messages.
    @inline(never)
    nonisolated var takesSlot: Bool {
        self.whenFull != .suspend && (self.isSerial || !self.heldLoop.isInEventLoop)
    }

    /// Returns the reason why an awaited message must not wait, because the mailbox could never handle it.
    nonisolated func waitError(
        of id: CorrelationID,
        to url: @autoclosure () -> String,
        inside caller: @autoclosure () -> DeliveryContext?
    ) -> RoutingError? {
        if self.heldLoop.isShutDown { return .loopShutDown(url: url()) }
        guard self.isSerial, let caller = caller() else { return nil }
        // A middleware may have abandoned an earlier attempt to deliver this message. The earlier attempt
        // will end, so waiting for it is not a deadlock.
        return self.isBusy(with: caller.messages.subtracting([id])) ? .deadlock(url: url()) : nil
    }
}
