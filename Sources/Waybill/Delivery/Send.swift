internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Leaves a message in the mailbox of its handler; if that fails, it is a dead letter.
    ///
    /// - Parameters:
    ///   - request: what to send.
    ///   - isOwn: whether the calling code sends it, so that it inherits from the message that is being
    ///     handled.
    func send(_ request: consuming Request, isOwn: Bool = true) {
        if isOwn, let inherited = self.inherited { request.inherit(from: inherited) }
        let id = self.open()
        do throws(RoutingError) {
            try self.post(request, id)
        } catch {
            self.deadLetter(request, id, error)
        }
    }

    /// Leaves a message in the mailbox of its handler, or throws the reason why not.
    @inline(__always)
    func post(_ request: borrowing Request, _ id: CorrelationID) throws(RoutingError) {
        let shard = self.currentShard
        if let error = self.objection(to: request) { throw error }
        let chain = self.chain(on: shard)
        let found = try self.find(request, on: shard, around: chain)
        var message = request.message(id: id, parameters: found.parameters, for: found.handler)
        if let chain { message.prepare(for: chain, from: self.provenance(of: request, in: chain)) }
        try found.handler.mailbox.post(Envelope(message: message, handler: found.handler), by: chain)
    }

    /// The same for a message that has nothing but its URL, as most have: nothing is copied on its way.
    func send(_ url: String) {
        guard self.phase.load(ordering: .relaxed) == .open else { return self.send(Request(url: url)) }
        if self.primaryShard.isCurrent { return self.send(url, on: self.primaryShard) }
        guard let shard = self.currentShard else { return self.sendFromOutside(url) }
        self.send(url, on: shard)
    }

    @inline(__always)
    private func send(_ url: String, on shard: LoopShard) {
        let hops = shard.hopsInPlace.map { $0 + 1 } ?? 0
        guard hops > 0 ? hops <= self.configuration.hopLimit : DeliveryContext.current == nil,
            shard.isPlain
        else { return self.send(Request(url: url)) }
        Counters.increment(shard.counters.sent)
        let id = shard.nextID()
        do throws(RoutingError) {
            // The caller is on the shard's loop, and its snapshot is not replaced before `post` has returned.
            try unsafe shard.snapshot.withUnsafeObjectThrowing { snapshot throws(RoutingError) in
                try snapshot.post(url, id: id, hops: hops, expiry: shard.expiryInPlace, on: shard.loop)
            }
        } catch {
            self.deadLetter(Request(url: url, hops: hops), id, error)
        }
    }

    /// The same on a thread that is no loop's.
    private func sendFromOutside(_ url: String) {
        guard DeliveryContext.current == nil, let snapshot = self.registry.snapshotIfWorthIt(),
            snapshot.isPlain
        else {
            return self.send(Request(url: url))
        }
        Counters.add(self.statistics.shared.sent)
        let id = self.statistics.nextID()
        do throws(RoutingError) {
            try snapshot.post(url, id: id, hops: 0, expiry: .never, on: nil)
        } catch {
            self.deadLetter(Request(url: url), id, error)
        }
    }

    /// Leaves a message in the mailbox of its handler, as soon as there is a slot for it.
    nonisolated(nonsending) func enqueue(_ request: consuming Request) async throws(RoutingError) {
        if let inherited = self.inherited { request.inherit(from: inherited) }
        await EventLoop.yieldIfDue()
        let id = self.open()
        do throws(RoutingError) {
            if let error = self.objection(to: request) { throw error }
            let shard = self.currentShard
            // A sender that waits for a slot learns at once that no handler is registered, whatever
            // middlewares intercept deliveries.
            let found = try self.find(request, on: shard)
            let handler = found.handler
            if handler.mailbox.whenFull != .suspend { await handler.mailbox.makeRoom() }
            var message = request.message(id: id, parameters: found.parameters, for: handler)
            let chain = self.chain(on: self.currentShard)
            if let chain {
                message.prepare(for: chain, from: self.provenance(of: request, in: chain))
            }
            let envelope = Envelope(message: message, handler: handler)
            guard handler.mailbox.whenFull == .suspend else {
                return try handler.mailbox.post(envelope, by: chain)
            }
            try await self.waitForSlot(request, handler)
            handler.mailbox.post(inSlot: envelope, by: chain)
        } catch {
            await self.yieldThread()
            if error.code == .noRoute, let message = self.unmatched(request, id: id) {
                self.tellUncaught(message)
            }
            self.close(.failed(error), id, request.url, self.unmatched(request, id: id))
            throw error
        }
    }

    /// Waits until the mailbox of a handler has a slot for a message.
    private nonisolated(nonsending) func waitForSlot(
        _ request: borrowing Request,
        _ handler: Handler
    ) async throws(RoutingError) {
        let mailbox = handler.mailbox
        if mailbox.takeSlot() { return }
        if mailbox.isBusy(with: DeliveryContext.waiting?.messages ?? []) {
            handler.counters.count(Outcome.Kind(.deadlock))
            throw RoutingError.deadlock(url: request.url).at(handler)
        }
        while await !mailbox.waitForSlot(by: self.time, until: request.expiry) {
            if let error = self.reasonToGiveUp(request, handler) { throw error }
        }
    }

    /// Why a message should not wait for a slot any longer, if so.
    private func reasonToGiveUp(_ request: borrowing Request, _ handler: Handler) -> RoutingError? {
        // The deadline cancels a running handler, and is the reason then.
        let isLate = request.expiry.hasPassed(by: self.time)
        guard isLate || Task.isCancelled || handler.isGone else { return nil }
        let error =
            if isLate { RoutingError.deadlineExceeded(url: request.url) } else if Task.isCancelled {
                RoutingError.cancelled(url: request.url)
            } else { handler.reason(request.url) }
        handler.counters.count(Outcome.Kind(error.code))
        return error.at(handler)
    }

    func find(_ request: borrowing Request, on shard: LoopShard?) throws(RoutingError) -> ResolvedRoute {
        guard let shard else { return try self.registry.find(request.url, request.passed, on: nil) }
        return try shard.find(request.url, request.passed)
    }

    /// The message as the uncaught handler sees it: what could be read from the URL, the values of the
    /// closest pattern included, and what the caller gave.
    func unmatched(_ request: Request, id: CorrelationID) -> Message? {
        let closest = try? self.registry.read { table throws(RoutingError) in
            table.closestParameters(of: request.url)
        }
        let parameters =
            (closest ?? nil) ?? (try? self.address(of: request.url)).map { Parameters(address: $0) }
        return parameters.map { request.message(id: id, parameters: $0) }
    }

    /// The address in a URL.
    ///
    /// - Throws: `invalidURL`.
    func address(of url: String) throws(RoutingError) -> Address {
        try self.registry.read { table throws(RoutingError) in try table.address(of: url) }
    }
}
