internal import DequeModule
internal import WaybillEventLoop
internal import WaybillRouting

// Messages that no caller awaits, from any thread.
extension Mailbox {
    /// Enqueues a message that no caller awaits, even if its sender is on the loop.
    ///
    /// `hasSlot` states whether the sender has already taken a slot. If the queue rejects the message,
    /// settles the message for `sender` and returns the reason.
    @inline(__always)
    @discardableResult
    nonisolated func post(
        _ envelope: consuming Envelope,
        for sender: Recipient = .nobody,
        hasSlot: Bool = false
    ) -> RoutingError? {
        // A slot is given back when the queue rejects its messages at the end of the loop.
        if !hasSlot, self.heldLoop.isShutDown {
            return envelope.reject(for: sender, RoutingError.loopShutDown)
        }
        // A closure cannot consume a captured value, so the closure takes the envelope out of this variable.
        var rest: Envelope? = consume envelope
        if self.act(on: self.withQueue({ $0.send(&rest, hasSlot: hasSlot) })) { return nil }
        return rest.take()?.reject(for: sender) { .mailboxFull(url: $0, limit: self.limit) }
    }

    /// Lets the loop handle queued messages when a sender on this loop finds the mailbox full.
    ///
    /// Only the loop can free a slot, and the loop cannot do so while it runs the sender.
    nonisolated(nonsending) func makeRoom() async {
        // Yield several times. The loop possibly polls before it starts the first message, and the sender can
        // resume before that.
        for _ in 0..<4 where self.heldLoop.isInEventLoop && self.queue.withLock({ $0.isFull }) {
            await self.eventLoop.yield()
        }
    }

    /// Takes a slot, or returns false when no slot is free or when other senders wait for a slot.
    nonisolated func takeSlot() -> Bool { self.withQueue { $0.takeSlot() } }

    /// Waits for a slot, and returns whether the sender has a slot.
    ///
    /// A sender without a slot must check again whether it was cancelled, whether its deadline has passed,
    /// and whether the handler is registered.
    nonisolated(nonsending) func waitForSlot(
        for handler: Handler,
        by time: TimeSource,
        until deadline: Deadline
    ) async -> Bool {
        let sender = LoopContinuation<Bool>(on: .current)
        var watch: DeadlineWatch?
        defer { watch?.cancel() }
        return await sender.wait(isolation: #isolation) {
            if !self.withQueue({ $0.addSender(sender, to: handler) }) { sender.resume(returning: true) }
            // Set the timer after the sender is added. If the deadline passed before that, the timer would
            // not find the sender.
            if deadline.exists {
                watch = DeadlineWatch(deadline, by: time, on: .current) { self.removeSender(sender) }
            }
            // The cancellation or the end of the registration possibly came before the sender was added.
            if Task.isCancelled || handler.isGone { self.removeSender(sender) }
        } onCancel: {
            self.removeSender(sender)
        }
    }

    private nonisolated func removeSender(_ sender: LoopContinuation<Bool>) {
        if self.withQueue({ $0.removeSender(sender) }) { sender.resume(returning: false) }
    }

    /// Gives free slots to the senders that wait for a slot.
    nonisolated func grantSlots() {
        guard self.whenFull == .suspend else { return }
        while let sender = self.withQueue({ $0.grantSlot() }) { sender.resume(returning: true) }
    }

    /// Whether a serial mailbox is handling one of the given messages.
    ///
    /// If the handler of this message waited for the mailbox, neither the handler nor the mailbox could
    /// continue.
    nonisolated func isBusy(with messages: Set<CorrelationID>) -> Bool {
        guard self.isSerial, !messages.isEmpty else { return false }
        return self.withQueue { $0.inProgress }.map(messages.contains) ?? false
    }

    /// Rejects the messages whose handlers have been unregistered, and resumes the senders that wait for
    /// these handlers.
    nonisolated func removeUnreachable() {
        for sender in self.withQueue({ $0.removeUnreachableSenders() }) { sender.resume(returning: false) }
        var removed = self.withQueue { $0.removeUnreachable() }
        while let entry = removed.popFirst() {
            let handler = entry.handler
            entry.fail { handler?.reason($0) ?? .unregistered(url: $0) }
        }
        self.grantSlots()
    }
}
