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
            return try await links[index].code.handle(links[index].code.box, message, next)
        } catch {
            throw Self.failure(error, of: message)
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
        let exchange = Exchange(message.id, url: url, core: core, .attempt)
        exchange.expire(at: deadline, on: core.currentLane?.eventLoop)
        let stage = Stage(deadline: deadline, hasWaited: self.stage?.object.hasWaited == true)
        Delivery(self.chain.object, from: self.index, handler, stage).start(message, for: exchange)
        return try await exchange.listen(noListener).value()
    }

    /// Gives a message to its handler, wherever that is.
    private nonisolated(nonsending) func arrive(
        _ message: Message
    ) async throws(RoutingError) -> any Sendable {
        var value: any Sendable = ()
        if try self.callInPlace(message, &value) { return value }
        let handler = self.handler.object
        if let failure = handler.failure { throw failure }
        message.arrive()
        let outcome =
            self.stage?.object.hasWaited == true
            ? await handler.mailbox.resume(message, handler) : await handler.core.hop(message, handler)
        return try outcome.value()
    }

    /// Calls the handler, if it cannot suspend and the caller is on its loop; false if that is not so.
    @usableFromInline
    func callInPlace(_ message: Message, _ value: inout any Sendable) throws(RoutingError) -> Bool {
        let hasWaited = self.stage?.object.hasWaited == true
        return try self.handler.with { handler throws(RoutingError) in
            try handler.callInPlace(message, hasWaited: hasWaited, &value)
        }
    }
}

extension Handler {
    @inline(__always)
    fileprivate func callInPlace(
        _ message: Message,
        hasWaited: Bool,
        _ value: inout any Sendable
    ) throws(RoutingError) -> Bool {
        guard self.isImmediate, !message.hasDeadline, !self.isGone,
            hasWaited || !self.mailbox.isOccupied
        else { return false }
        return try self.lane?.with { lane throws(RoutingError) in
            guard lane.isCurrent else { return false }
            value = try self.call(message, in: lane)
            return true
        } ?? false
    }

    @inline(__always)
    private func call(_ message: Message, in lane: Lane) throws(RoutingError) -> any Sendable {
        if message.hasReturnURL { message.arrive() }
        let outer = lane.begin(message.inPlace)
        defer { lane.end(outer) }
        do {
            return try self.call(message)
        } catch {
            throw .thrown(error, by: message)
        }
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
