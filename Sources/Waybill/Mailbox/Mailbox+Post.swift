internal import DequeModule
internal import WaybillEventLoop
internal import WaybillRouting

// Messages that no caller awaits, from any thread.
extension Mailbox {
    /// Leaves a message, which waits in the queue even if its sender is on the loop; ends it if the queue does
    /// not take it.
    ///
    /// - Parameters:
    ///   - envelope: The message.
    ///   - sender: Who learns that the queue has not taken the message.
    /// - Returns: The reason that the queue has not taken the message, or nil.
    @inline(__always)
    @discardableResult
    nonisolated func post(_ envelope: consuming Envelope, for sender: Recipient = .nobody) -> RoutingError? {
        if self.heldLoop.isShutDown { return envelope.reject(for: sender, RoutingError.loopShutDown) }
        // A closure cannot consume what it captures.
        var rest: Envelope? = consume envelope
        if self.act(on: self.withQueue({ $0.send(&rest) })) { return nil }
        return rest.take()?.reject(for: sender) { .mailboxFull(url: $0, limit: self.limit) }
    }

    /// Leaves a message whose sender has a slot for it.
    nonisolated func post(inSlot envelope: consuming Envelope) {
        var rest: Envelope? = consume envelope
        let effect = self.withQueue { queue in
            guard let envelope = rest.take() else { return MailboxQueue.Effect.none }
            return queue.send(inSlot: envelope)
        }
        _ = self.act(on: effect)
    }

    /// Lets the loop run the queued messages, if a sender on that very loop finds the mailbox full: while it
    /// sends, nothing else can make room.
    nonisolated(nonsending) func makeRoom() async {
        // More than once, if need be: the loop may have had to poll before it took the first, and then this comes
        // first.
        for _ in 0..<4 where self.heldLoop.isInEventLoop && self.queue.withLock({ $0.isFull }) {
            await self.eventLoop.yield()
        }
    }

    /// Takes a slot, if there is one and no other sender waits for it.
    nonisolated func takeSlot() -> Bool { self.withQueue { $0.takeSlot() } }

    /// Waits for a slot.
    ///
    /// - Parameters:
    ///   - time: what the deadline goes by.
    ///   - deadline: when the sender stops waiting.
    /// - Returns: whether it has a slot; if not, check cancellation, deadline and handler again.
    nonisolated(nonsending) func waitForSlot(by time: TimeSource, until deadline: Deadline) async -> Bool {
        let sender = LoopContinuation<Bool>(on: .current)
        var watch: DeadlineWatch?
        defer { watch?.cancel() }
        return await sender.wait(isolation: #isolation) {
            if !self.withQueue({ $0.wait(sender) }) { sender.resume(returning: true) }
            // Afterwards, or a deadline that passes meanwhile would not find the sender.
            if deadline.exists {
                watch = DeadlineWatch(deadline, by: time, on: .current) { self.withdraw(sender) }
            }
            if Task.isCancelled { self.withdraw(sender) }
        } onCancel: {
            self.withdraw(sender)
        }
    }

    private nonisolated func withdraw(_ sender: LoopContinuation<Bool>) {
        if self.withQueue({ $0.withdraw(sender) }) { sender.resume(returning: false) }
    }

    /// Gives free slots to the senders that wait for one.
    nonisolated func grantSlots() {
        guard self.whenFull == .suspend else { return }
        while let sender = self.withQueue({ $0.grantSlot() }) { sender.resume(returning: true) }
    }

    /// Whether a serial mailbox is busy with one of some messages: a handler of such a message that waits for
    /// this mailbox would never be resumed.
    nonisolated func isBusy(with messages: Set<CorrelationID>) -> Bool {
        guard self.isSerial, !messages.isEmpty else { return false }
        return self.withQueue { $0.inProgress }.map(messages.contains) ?? false
    }

    /// Ends what waits for handlers that have been unregistered, and has the waiting senders check whether
    /// their handlers are still registered.
    nonisolated func removeUnreachable() {
        for sender in self.withQueue({ $0.removeSenders() }) { sender.resume(returning: false) }
        var removed = self.withQueue { $0.removeUnreachable() }
        while let entry = removed.popFirst() {
            let handler = entry.handler
            entry.fail { handler?.reason($0) ?? .unregistered(url: $0) }
        }
        self.grantSlots()
    }
}
