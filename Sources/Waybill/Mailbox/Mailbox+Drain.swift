internal import WaybillEventLoop
internal import WaybillRouting

// The loop's side.
extension Mailbox {
    /// Starts the queued messages, and lets the loop poll when the budget is used up.
    func drain() {
        while self.heldLoop.consumeDeliveryBudget() {
            guard let entry = self.withQueue({ $0.next() }) else { return }
            self.grantSlots()
            switch consume entry {
            case .sent(let envelope): self.start(envelope)
            case .intercepted(let intercepted): self.start(intercepted.envelope, by: intercepted.chain)
            case .awaited(let awaited): awaited.task.resume()
            }
        }
        self.drainLater()
    }

    /// Runs a message that no caller awaits.
    private func start(_ envelope: borrowing Envelope, by chain: MiddlewareChain? = nil) {
        let isLate = envelope.handler.isGone || envelope.message.expiry.exists
        if isLate, let error = envelope.handler.objection(to: envelope.message) {
            self.endTurn()
            envelope.deadLetter(error)
        } else if envelope.handler.isImmediate, chain == nil {
            envelope.handler.settle(envelope.message, in: self)
        } else {
            self.startTask(envelope.message, envelope.handler, by: chain)
        }
    }

    /// Runs a handler that may suspend; it ends with its registration all the same.
    private func startTask(_ message: Message, _ handler: Handler, by chain: MiddlewareChain?) {
        let exchange = Exchange(
            message.id,
            url: message.parameters.url,
            hops: message.hops,
            expiry: message.expiry,
            core: handler.core,
            handler: handler,
            .sent(message)
        )
        if chain == nil, handler.code.maySuspend {
            exchange.start(message, at: handler, on: self.eventLoop)
        } else {
            self.startIntercepted(message, handler, exchange, by: chain)
        }
    }

    /// Runs a message that meets middlewares, in a task of its own.
    private func startIntercepted(
        _ message: Message,
        _ handler: Handler,
        _ exchange: Exchange,
        by chain: MiddlewareChain?
    ) {
        guard exchange.attach(to: handler) else {
            self.endTurn()
            return exchange.finish(.failed(handler.reason(exchange.url)))
        }
        if message.expiry.exists { exchange.expire(at: message.expiry, on: self.eventLoop) }
        let attempts = self.isSerial ? DeliveryBounds.Attempts() : nil
        exchange.bind(
            task: handler.core.startTask {
                Task.immediate {
                    let outcome = await self.runUnawaited(message, handler, chain, attempts, for: exchange)
                    let leftBehind = attempts.flatMap { $0.isEmpty ? nil : $0 }
                    if leftBehind == nil { self.endTurn() }
                    exchange.finish(outcome, of: message, by: handler)
                    guard let leftBehind else { return }
                    await leftBehind.end()
                    self.endTurn()
                }
            }
        )
    }
}
