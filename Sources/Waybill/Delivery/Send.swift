internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Takes a message that no caller awaits through the steps admit, resolve, intercept and place, into the
    /// mailbox of its handler, or returns the reason why no mailbox accepted the message.
    ///
    /// `isOwn` states whether the code that calls this method is the sender. The message then inherits the
    /// hop count and the deadline from the message that the code handles.
    @discardableResult
    func send(
        _ request: consuming Request,
        isOwn: Bool = true,
        for sender: Recipient = .nobody
    ) -> RoutingError? {
        let shard = self.currentShard
        let request = isOwn ? request.inheriting(on: shard) : request
        return self.send(request, ticket: self.openTicket(on: shard), for: sender, on: shard)
    }

    /// Takes a message that has its ticket through the steps of ``send(_:isOwn:for:)``.
    @inline(__always)
    func send(
        _ request: Request,
        ticket: consuming MessageTicket,
        for sender: Recipient = .nobody,
        on shard: BorrowedShard?
    ) -> RoutingError? {
        if let error = self.admissionError(of: request) {
            self.fail(ticket, of: request, with: error, for: sender, on: shard)
            return error
        }
        let (target, parameters) = self.resolve(request, on: shard)
        let chain = self.chain(on: shard)
        guard let mailbox = self.mailbox(of: target, chain) else {
            self.fail(ticket, of: request, with: target.failure, for: sender, on: shard)
            return target.failure
        }
        return mailbox.post(
            self.envelope(request, ticket: ticket, to: target, parameters: parameters, by: chain),
            for: sender
        )
    }

    /// Sends a message, and waits for a free slot first when the mailbox of its handler suspends senders.
    ///
    /// When the mailbox has another policy and is full, a caller on the loop of the mailbox yields to the
    /// loop first.
    nonisolated(nonsending) func enqueue(_ request: consuming Request) async throws(RoutingError) {
        let request = request.inheriting(on: self.currentShard)
        await EventLoop.yieldIfDue()
        let shard = self.currentShard
        let ticket = self.openTicket(on: shard)
        if let error = self.admissionError(of: request) {
            throw await self.failAwaited(ticket, of: request, with: error)
        }
        let (target, parameters) = self.resolve(request, on: shard)
        // A sender receives the failure at once when no handler is registered, even if middlewares intercept
        // the message. The sender cannot wait for a slot, because only a handler has a mailbox.
        guard let handler = target.handler else {
            throw await self.failAwaited(ticket, of: request, with: target.failure)
        }
        let waitsForSlot = handler.mailbox.whenFull == .suspend
        if waitsForSlot {
            if let error = await self.waitForSlot(request, handler) {
                throw await self.failAwaited(ticket, of: request, with: error, at: handler)
            }
        } else {
            await handler.mailbox.makeRoom()
        }
        let chain = self.registry.chain
        let envelope = self.envelope(request, ticket: ticket, to: target, parameters: parameters, by: chain)
        if let error = handler.mailbox.post(envelope, for: .caller, hasSlot: waitsForSlot) {
            await self.yieldUnlessOnLoop()
            throw error
        }
    }

    /// Returns the mailbox of a message that no caller awaits, or nil when the message has neither a handler
    /// nor middlewares.
    private func mailbox(of target: Target, _ chain: MiddlewareChain?) -> Mailbox? {
        switch target {
        case .handler(let handler): handler.mailbox
        // Middlewares do not receive invalid URLs.
        case .missing(let error): chain != nil && error.code == .noRoute ? self.homeMailbox : nil
        case .instances: nil
        }
    }

    private func envelope(
        _ request: borrowing Request,
        ticket: consuming MessageTicket,
        to target: Target,
        parameters: consuming Parameters,
        by chain: MiddlewareChain?
    ) -> Envelope {
        var message = request.message(id: ticket.id, parameters: parameters, returningBy: self)
        if let chain { message.prepare(for: chain, from: self.provenance(of: request, in: chain)) }
        return Envelope(message: message, ticket: ticket, target: target, core: self, chain: chain)
    }

    private nonisolated(nonsending) func failAwaited(
        _ ticket: consuming MessageTicket,
        of request: Request,
        with error: RoutingError,
        at handler: Handler? = nil
    ) async -> RoutingError {
        let error = error.at(handler)
        self.fail(ticket, of: request, with: error, at: handler, on: self.currentShard)
        await self.yieldUnlessOnLoop()
        return error
    }

    /// Waits until the mailbox of a handler has a slot, or returns the reason to stop waiting.
    private nonisolated(nonsending) func waitForSlot(
        _ request: Request,
        _ handler: Handler
    ) async -> RoutingError? {
        let mailbox = handler.mailbox
        if mailbox.takeSlot() { return nil }
        if mailbox.isBusy(with: DeliveryContext.waiting?.messages ?? []) {
            return .deadlock(url: request.url)
        }
        while await !mailbox.waitForSlot(for: handler, by: self.time, until: request.expiry) {
            // The deadline also cancels the task of the sending handler, so check the deadline before the
            // cancellation.
            if request.expiry.hasPassed(by: self.time) { return .deadlineExceeded(url: request.url) }
            if Task.isCancelled { return .cancelled(url: request.url) }
            if handler.isGone { return handler.retirementError(request.url) }
        }
        return nil
    }
}
