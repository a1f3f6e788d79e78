internal import WaybillEventLoop
internal import WaybillRouting

// The part of the mailbox that runs on the loop and takes messages from the queue.
extension Mailbox {
    /// Starts the queued messages until the loop's budget of deliveries is used up, and then lets the loop
    /// poll.
    func drain() {
        while self.heldLoop.consumeDeliveryBudget() {
            guard let entry = self.withQueue({ $0.startNext() }) else { return }
            self.grantSlots()
            switch consume entry {
            case .sent(let envelope): self.start(envelope)
            case .awaited(let task, _): task.resume()
            }
        }
        self.drainLater()
    }

    /// Handles a message that no caller awaits.
    private func start(_ envelope: consuming Envelope) {
        guard let handler = envelope.target.handler, handler.isImmediate, envelope.chain == nil else {
            return self.startTask(of: envelope)
        }
        let outcome = handler.handle(envelope.message)
        self.endTurn()
        handler.core.settle(
            envelope.ticket,
            as: outcome,
            of: envelope.message,
            for: .nobody,
            at: handler,
            on: handler.shard
        )
    }

    /// Starts a task that handles a message that no caller awaits.
    private func startTask(of envelope: consuming Envelope) {
        let (core, message, handler) = (envelope.core, envelope.message, envelope.target.handler)
        let interception = envelope.chain.map { chain in
            Interception(
                message,
                by: chain,
                to: envelope.target,
                on: core,
                deadline: message.expiry,
                hasWaited: true,
                attempts: self.isSerial ? Interception.Attempts() : nil
            )
        }
        guard let code = interception.map(TaskWork.Code.middlewares) ?? handler.map(TaskWork.Code.handler)
        else { preconditionFailure("internal error: a message has neither a handler nor middlewares") }
        let exchange = Exchange(for: message, ticket: envelope.ticket, at: handler, to: .nobody, core: core)
        exchange.startTask(for: TaskWork(code: code, message: message, endsTurn: true))
    }
}
