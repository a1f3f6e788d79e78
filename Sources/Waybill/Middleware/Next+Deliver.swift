internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension Next {
    /// Delivers a message that has a deadline, or meets a middleware that is not around everything, or whose handler
    /// cannot be called here and now.
    @usableFromInline
    @inline(never)
    nonisolated(nonsending) func deliver(_ message: Message) async throws(RoutingError) -> any Sendable {
        if message.hasDeadline, self.shortens(message.due) {
            return try await self.deliver(message, until: message.due)
        }
        let links = self.chain.with { $0.links }
        var index = self.index
        while index < links.count, !links[index].surrounds(message) { index += 1 }
        guard index < links.count else { return try await self.arrive(message) }
        do {
            let next = Next(self.chain, index + 1, self.handler, self.stage)
            return try await links[index].code.handle(links[index].code.box, message, self.context, next)
        } catch {
            throw self.failure(error, of: message)
        }
    }

    /// Whether a deadline is earlier than any that somebody watches.
    private func shortens(_ deadline: Deadline) -> Bool {
        guard let earlier = self.stage?.object.deadline else { return true }
        return deadline < earlier
    }

    /// Delivers a message in a task of its own, which is left behind when the deadline passes.
    private nonisolated(nonsending) func deliver(
        _ message: Message,
        until deadline: Deadline
    ) async throws(RoutingError) -> any Sendable {
        let handler = self.handler.object
        let core = handler.core
        let url = message.parameters.url
        guard !deadline.hasPassed(by: core.time) else { throw .deadlineExceeded(url: url) }
        let exchange = Exchange(message.id, url: url, core: core, .attempt, caller: DeliveryContext.waiting)
        exchange.expire(at: deadline, on: core.currentLane?.eventLoop)
        let outer = self.stage?.object
        let stage = Stage(deadline: deadline, hasWaited: outer?.hasWaited == true, attempts: outer?.attempts)
        let task = Delivery(self.chain.object, from: self.index, handler, stage).start(message, for: exchange)
        outer?.attempts?.add(task)
        return try await exchange.listen(noListener).value()
    }

    /// Gives a message to its handler, wherever that is.
    private nonisolated(nonsending) func arrive(
        _ message: Message
    ) async throws(RoutingError) -> any Sendable {
        if self.canCallInPlace(message) { return try self.callInPlace(message) }
        let handler = self.handler.object
        if let failure = handler.failure { throw failure }
        message.arrive()
        let outcome =
            self.stage?.object.hasWaited == true
            ? await handler.mailbox.run(message, handler, for: nil) : await handler.core.hop(message, handler)
        if case .replied = outcome, self.isLate(message) {
            // Whoever looks on sees what the caller sees.
            handler.core.countLateReply(at: handler)
            throw self.failure(CancellationError(), of: message)
        }
        return try outcome.at(handler).value()
    }

    /// Whether the handler cannot suspend, the caller is on its loop, and nothing stands in between.
    @usableFromInline
    func canCallInPlace(_ message: Message) -> Bool {
        let hasWaited = self.stage?.object.hasWaited == true
        return self.handler.with { handler in
            handler.isImmediate && !message.hasDeadline && !handler.isGone
                && (hasWaited || !handler.mailbox.isOccupied)
                && handler.lane?.with { $0.isCurrent } == true
        }
    }

    /// Calls the handler.
    @usableFromInline
    func callInPlace(_ message: Message) throws(RoutingError) -> any Sendable {
        if message.hasReturnURL { message.arrive() }
        var failure: RoutingError?
        // An optional of a value of any type would be copied by the runtime.
        let value: any Sendable = self.handler.with { handler in
            let outer = handler.lane?.with { $0.begin(message.inPlace) }
            defer { if let outer { handler.lane?.with { $0.end(outer) } } }
            do {
                return try handler.call(message)
            } catch {
                failure = handler.failure(error, of: message)
                return ()
            }
        }
        if let failure { throw failure }
        return value
    }
}

extension Outcome {
    /// The value, whatever it is.
    @inline(__always)
    func value() throws(RoutingError) -> any Sendable {
        switch self {
        case .replied(let value): return value
        case .failed(let error): throw error
        }
    }
}
