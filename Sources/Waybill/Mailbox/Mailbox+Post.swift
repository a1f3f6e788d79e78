internal import DequeModule
internal import WaybillEventLoop
internal import WaybillRouting

// Messages that no caller awaits, from any thread.
extension Mailbox {
    /// Leaves a message.
    @inline(__always)
    nonisolated func post(_ envelope: consuming Envelope) throws(RoutingError) {
        if self.heldLoop.isShutDown { throw envelope.refused(RoutingError.loopShutDown) }
        // A closure cannot consume what it captures.
        var rest: Envelope? = consume envelope
        guard self.act(on: self.withQueue { $0.send(&rest) }) else {
            guard let envelope = rest.take() else { return }
            throw envelope.refused { .mailboxFull(url: $0, limit: self.limit) }
        }
    }

    /// Leaves a message, and the middlewares that it meets when its turn comes.
    nonisolated func post(
        _ envelope: consuming Envelope,
        by chain: MiddlewareChain?
    ) throws(RoutingError) {
        guard let chain else { return try self.post(envelope) }
        let intercepted = InterceptedEnvelope(envelope, by: chain)
        if self.heldLoop.isShutDown { throw intercepted.envelope.refused(RoutingError.loopShutDown) }
        guard self.act(on: self.withQueue { $0.send(intercepted) }) else {
            throw intercepted.envelope.refused { .mailboxFull(url: $0, limit: self.limit) }
        }
    }

    /// Leaves a message whose sender has a slot for it.
    nonisolated func post(inSlot envelope: consuming Envelope, by chain: MiddlewareChain?) {
        var rest: MailboxQueue.Entry? =
            if let chain { .intercepted(InterceptedEnvelope(envelope, by: chain)) } else { .sent(envelope) }
        let effect = self.withQueue { queue in
            guard let entry = rest.take() else { return MailboxQueue.Effect.none }
            return queue.send(inSlot: entry)
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
        let watch: DeadlineWatch? =
            deadline.exists
            ? DeadlineWatch(deadline, by: time, on: .current) { self.withdraw(sender) } : nil
        defer { watch?.cancel() }
        return await sender.wait(isolation: #isolation) {
            if !self.withQueue({ $0.wait(sender) }) { sender.resume(returning: true) }
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
            entry.lose { handler.reason($0) }
        }
        self.grantSlots()
    }
}
