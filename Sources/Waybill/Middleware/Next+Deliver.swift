internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension Next {
    /// Delivers a message that has a deadline, or meets a middleware that is not around everything, or whose handler
    /// cannot be called here and now.
    @usableFromInline
    @inline(never)
    nonisolated(nonsending) func deliver(_ message: Message) async throws(RoutingError) -> any Sendable {
        if message.hasDeadline, let deadline = message.deadline, self.shortens(deadline) {
            return try await self.deliver(message, until: deadline)
        }
        var link = self.link
        while let one = link, !one.surrounds(message) { link = one.following }
        guard let link else { return try await self.arrive(message) }
        do {
            return try await link.middleware.handle(
                message,
                next: Next(link.following, self.handler, self.stage)
            )
        } catch {
            throw Self.failure(error, of: message)
        }
    }

    /// Whether a deadline is earlier than any that somebody watches.
    private func shortens(_ deadline: ContinuousClock.Instant) -> Bool {
        self.stage?.deadline.map { deadline < $0 } ?? true
    }

    /// Delivers a message in a task of its own, which is left behind when the deadline passes.
    private nonisolated(nonsending) func deliver(
        _ message: Message,
        until deadline: ContinuousClock.Instant
    ) async throws(RoutingError) -> any Sendable {
        let core = self.handler.core
        let url = message.parameters.url
        guard deadline > .now else { throw .deadlineExceeded(url: url) }
        let exchange = Exchange(message.id, url: url, core: core, .attempt)
        exchange.expire(at: deadline, on: core.currentLane?.eventLoop ?? Exchange.timekeeper)
        let stage = Stage(deadline: deadline, hasWaited: self.stage?.hasWaited == true)
        Next(self.link, self.handler, stage).start(message, for: exchange)
        switch await exchange.listen(noListener) {
        case .replied(let value): return value
        case .failed(let error): throw error
        }
    }

    /// Gives a message to its handler, wherever that is.
    private nonisolated(nonsending) func arrive(
        _ message: Message
    ) async throws(RoutingError) -> any Sendable {
        if let failure = self.handler.failure { throw failure }
        if let value = try self.handler.callInPlace(message, self.stage) { return value }
        message.arrive()
        let outcome =
            self.stage?.hasWaited == true
            ? await self.handler.mailbox.resume(message, self.handler)
            : await self.handler.core.hop(message, self.handler)
        switch outcome {
        case .replied(let value): return value
        case .failed(let error): throw error
        }
    }
}

extension Next {
    /// Delivers a message in a task of its own, on the caller's loop if it is one of the bus's, and ends an exchange with
    /// the outcome.
    func start(_ message: Message, for exchange: Exchange) {
        let core = self.handler.core
        let anchor = core.currentLane?.anchor ?? Anchor(self.handler.mailbox.eventLoop)
        anchor.start(self, message, for: exchange)
    }

    /// Delivers a message, and says how it ended.
    nonisolated(nonsending) func outcome(of message: Message) async -> Outcome {
        do throws(RoutingError) {
            return .replied(try await self(message))
        } catch {
            return .failed(error)
        }
    }
}

extension Handler {
    /// Calls the handler, if it cannot suspend and the caller is on its loop; nil if that is not so.
    @usableFromInline
    func callInPlace(_ message: Message, _ stage: Stage?) throws(RoutingError) -> (any Sendable)? {
        guard self.isImmediate, message.extras?.hasDeadline != true, !self.isGone,
            let lane = self.core.currentLane, lane.loop == self.loop,
            stage?.hasWaited == true || self.mailbox.waiting.load(ordering: .relaxed) == 0
        else { return nil }
        message.arrive()
        let outer = lane.begin(hops: message.hops)
        defer { lane.end(outer) }
        do {
            return try self.call(message)
        } catch {
            throw .thrown(error, by: message)
        }
    }
}

extension Anchor {
    /// Starts a delivery in a task that is isolated to this actor.
    fileprivate nonisolated func start(_ next: Next, _ message: Message, for exchange: Exchange) {
        if self.eventLoop.isInEventLoop {
            self.assumeOnLoop { $0.startInPlace(next, message, for: exchange) }
        } else {
            exchange.bind(task: Task.immediate { await self.run(next, message, for: exchange) })
        }
    }

    private func startInPlace(_ next: Next, _ message: Message, for exchange: Exchange) {
        let task = next.handler.core.startTask {
            Task.immediate { await self.run(next, message, for: exchange) }
        }
        exchange.bind(task: task)
    }

    private func run(_ next: Next, _ message: Message, for exchange: Exchange) async {
        guard !exchange.isOver else { return }
        let context = DeliveryContext(message, inside: DeliveryContext.current)
        let outcome = await DeliveryContext.$current.withValue(context) {
            // Without a mention of the actor the closure would not be isolated to it.
            _ = self
            return await next.outcome(of: message)
        }
        exchange.finish(outcome, of: message)
    }
}

extension Mailbox {
    /// Runs a message that nobody awaits, and the middlewares around its handler.
    func runUnawaited(_ message: Message, _ handler: Handler) async -> Outcome {
        guard let outermost = message.extras?.passage?.outermost else {
            return await handler.run(message, isolation: self, inside: nil)
        }
        let next = Next(outermost, handler, Stage(deadline: message.deadline, hasWaited: true))
        return await DeliveryContext.$current.withValue(DeliveryContext(message, inside: nil)) {
            // Without a mention of the actor the closure would not be isolated to it.
            _ = self
            return await next.outcome(of: message)
        }
    }

    /// Runs a message that has waited in the queue and then met middlewares.
    fileprivate func resume(_ message: Message, _ handler: Handler) async -> Outcome {
        if let error = handler.objection(to: message) { return .failed(error) }
        if Task.isCancelled { return .failed(.cancelled(url: message.parameters.url)) }
        return await handler.run(message, isolation: self, inside: DeliveryContext.current)
    }
}
