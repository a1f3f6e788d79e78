internal import WaybillEventLoop
internal import WaybillRouting

/// A delivery through middlewares; it holds what is on the way.
struct Delivery: Sendable {
    let chain: Chain
    /// Which middleware of the chain is the first.
    let index: Int
    let handler: Handler
    let stage: Stage?

    init(_ chain: Chain, from index: Int = 0, _ handler: Handler, _ stage: Stage?) {
        self.chain = chain
        self.index = index
        self.handler = handler
        self.stage = stage
    }

    /// Delivers a message, and says how it ended.
    nonisolated(nonsending) func outcome(of message: Message) async -> Outcome {
        defer { withExtendedLifetime(self) {} }
        do throws(RoutingError) {
            let next = Next(
                Unretained(self.chain),
                self.index,
                Unretained(self.handler),
                self.stage.map(Unretained.init)
            )
            return .replied(try await next.attempt(message))
        } catch {
            return .failed(error)
        }
    }

    /// Delivers a message in a task of its own, on the caller's loop if it is one of the bus's, and ends an exchange with
    /// the outcome.
    @discardableResult
    func start(_ message: Message, for exchange: Exchange) -> Task<Void, Never> {
        let anchor = self.handler.core.currentLane?.anchor ?? Anchor(self.handler.mailbox.eventLoop)
        let task = anchor.start(self, message, for: exchange)
        exchange.bind(task: task)
        return task
    }
}

extension Anchor {
    /// Starts a delivery in a task that is isolated to this actor.
    fileprivate nonisolated func start(
        _ delivery: Delivery,
        _ message: Message,
        for exchange: Exchange
    ) -> Task<Void, Never> {
        if self.eventLoop.isInEventLoop {
            self.assumeOnLoop { $0.startInPlace(delivery, message, for: exchange) }
        } else {
            Task.immediate { await self.run(delivery, message, for: exchange) }
        }
    }

    private func startInPlace(
        _ delivery: Delivery,
        _ message: Message,
        for exchange: Exchange
    ) -> Task<Void, Never> {
        delivery.handler.core.startTask {
            Task.immediate { await self.run(delivery, message, for: exchange) }
        }
    }

    private func run(_ delivery: Delivery, _ message: Message, for exchange: Exchange) async {
        guard !exchange.isOver else { return }
        let context = DeliveryContext(message, inside: exchange.caller)
        let outcome = await DeliveryContext.$inherited.withValue(context) {
            // Without a mention of the actor the closure would not be isolated to it.
            _ = self
            return await delivery.outcome(of: message)
        }
        exchange.finish(outcome, of: message, by: delivery.handler)
    }
}

extension Mailbox {
    /// Runs a message that nobody awaits, and the middlewares around its handler.
    func runUnawaited(
        _ message: Message,
        _ handler: Handler,
        _ attempts: Stage.Attempts?,
        for exchange: Exchange
    ) async -> Outcome {
        guard let chain = message.extras?.passage?.chain else {
            return await handler.run(message, isolation: self, for: exchange)
        }
        let stage = Stage(deadline: message.due, hasWaited: true, attempts: attempts)
        let delivery = Delivery(chain, handler, stage)
        return await DeliveryContext.$inherited.withValue(DeliveryContext(message, inside: nil)) {
            // Without a mention of the actor the closure would not be isolated to it.
            _ = self
            return await delivery.outcome(of: message)
        }
    }
}
