internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Has the handler of a request called, if that can be done here and now.
    ///
    /// This is the path of most messages: the caller is on a loop, and so is the handler.
    @inline(__always)
    func deliver(
        _ url: String,
        _ number: InlineNumber?,
        _ request: Request?,
        _ call: (Handler, Message) throws -> Void
    ) -> InPlaceResult {
        guard self.phase.load(ordering: .relaxed) == .open, let shard = self.admittingUnretained else {
            return .elsewhere
        }
        // The bus holds its shards.
        return unsafe shard.withUnsafeObject { shard in
            guard let context = shard.inherited else { return shard.deliver(url, number, request, call) }
            return self.deliver(url, number, request, inside: context, on: shard, call)
        }
    }

    /// The shard of the caller's loop, if the caller may continue without suspending; counts one delivery
    /// then.
    @inline(__always)
    private var admittingUnretained: Unretained<LoopShard>? {
        self.primaryShard.heldLoop.admitsDelivery() ? self.primaryUnretained : self.otherAdmittingUnretained
    }

    @inline(never)
    private var otherAdmittingUnretained: Unretained<LoopShard>? {
        for index in self.otherShardsUnretained.indices {
            let other = self.otherShardsUnretained[index]
            // The bus holds its shards.
            if unsafe other.withUnsafeObject({ $0.heldLoop.admitsDelivery() }) { return other }
        }
        return nil
    }

    /// The same for a caller that is part of a handler: its message inherits hops and deadline.
    @inline(never)
    private func deliver(
        _ url: String,
        _ number: InlineNumber?,
        _ request: Request?,
        inside context: DeliveryContext,
        on shard: LoopShard,
        _ call: (Handler, Message) throws -> Void
    ) -> InPlaceResult {
        var inside = request ?? Request(url: url)
        inside.inherit(from: context)
        return self.objection(to: inside) == nil ? shard.deliver(url, number, inside, call) : .elsewhere
    }

    /// The shard of the caller's loop, if the caller may continue without suspending, and is no handler.
    ///
    /// One delivery is counted against what the loop may do before it polls.
    @inline(__always)
    var admittingShard: LoopShard? {
        guard self.phase.load(ordering: .relaxed) == .open else { return nil }
        let primary = self.primaryShard
        let admitting = primary.heldLoop.admitsDelivery() ? primary : self.otherAdmittingShard
        // In a task that a handler has started in place: it inherits the handler's hops, or it might never
        // end.
        guard let shard = admitting, !shard.isCalling, DeliveryContext.current == nil else { return nil }
        return shard
    }

    private var otherAdmittingShard: LoopShard? {
        self.otherShards.first { $0.heldLoop.admitsDelivery() }
    }

    /// Delivers a request and waits for its outcome, where the caller is isolated.
    nonisolated(nonsending) func route(
        _ request: consuming Request,
        listener: Listener = noListener
    ) async -> DeliveryResult {
        if let context = self.inherited { request.inherit(from: context) }
        await EventLoop.yieldIfDue()
        if let error = self.objection(to: request) {
            await self.yieldThread()
            return self.lose(request, self.open(), error)
        }
        guard let shard = self.currentShard else { return await self.routeFromOutside(request, listener) }
        var value: (any Sendable)?
        var path: ReturnPath?
        let attempt = shard.deliver(request.url, nil, request) { handler, message in
            let reply = try handler.call(message)
            self.conclude(message, reply)
            value = reply
            path = message.extras?.returnPath
        }
        self.noteEndInPlace()
        if case .called(let id) = attempt, let value {
            return DeliveryResult(id: id, outcome: .replied(value), returnPath: path)
        }
        return await self.route(request, after: attempt, listener)
    }

    /// Takes a request on from where it got without suspending.
    nonisolated(nonsending) func route(
        _ request: Request,
        after attempt: InPlaceResult,
        _ listener: Listener = noListener
    ) async -> DeliveryResult {
        switch attempt {
        case .failed(let error, let id):
            self.show(id, request.url, error, isAwaited: true, self.unmatched(request, id: id))
            return DeliveryResult(id: id, outcome: .failed(error))
        case .lost(let error, let id): return self.lose(request, id, error)
        case .queued(let task):
            await self.handle(task)
            return self.result(of: task)
        case .started(let exchange):
            let outcome = await exchange.listen(listener)
            return DeliveryResult(id: exchange.id, outcome: outcome, returnPath: exchange.returnPath)
        case .intercepted: return await self.routeIntercepted(request, listener)
        case .elsewhere, .called: return await self.route(request, listener: listener)
        }
    }

    private func result(of task: QueuedTask) -> DeliveryResult {
        do throws(RoutingError) {
            let value = try self.end(task)
            let path = task.message.extras?.returnPath
            return DeliveryResult(id: task.message.id, outcome: .replied(value), returnPath: path)
        } catch {
            return DeliveryResult(id: task.message.id, outcome: .failed(error))
        }
    }

    private nonisolated(nonsending) func routeFromOutside(
        _ request: Request,
        _ listener: Listener
    ) async -> DeliveryResult {
        if let chain = self.registry.chain {
            return await self.route(request, around: chain, on: nil, listener)
        }
        let id = self.open()
        let found: ResolvedRoute
        do throws(RoutingError) {
            found = try self.find(request, on: nil)
        } catch {
            await self.yieldThread()
            return self.lose(request, id, error)
        }
        let handler = found.handler
        let attempt = self.handOver(request, id, to: handler, found.takeParameters(), for: .waiting)
        return await self.route(request, after: attempt, listener)
    }

    /// Gives the thread back before a call ends that has not suspended, unless the thread runs a loop of the
    /// bus.
    ///
    /// A task of the global pool that repeats a refused call would hold one of the pool's few threads for
    /// ever. On a loop the budget does the same with less.
    nonisolated(nonsending) func yieldThread() async {
        if self.currentShard == nil { await Task.yield() }
    }

    /// Ends a request that reaches no handler.
    @inline(never)
    func lose(_ request: Request, _ id: CorrelationID, _ error: RoutingError) -> DeliveryResult {
        let outcome = Outcome.failed(error)
        if error.code == .noRoute, let message = self.unmatched(request, id: id) {
            self.tellUncaught(message)
        }
        self.close(outcome, id, request.url, self.unmatched(request, id: id))
        return DeliveryResult(id: id, outcome: outcome)
    }
}

extension BusCore {
    /// Hands a request to a handler that is on another loop, or has messages waiting, or may suspend.
    @inline(__always)
    func handOver(
        _ request: borrowing Request,
        _ id: CorrelationID,
        to handler: Handler,
        _ parameters: consuming Parameters,
        for caller: @autoclosure () -> DeliveryContext?
    ) -> InPlaceResult {
        guard handler.isImmediate, !request.expiry.exists else {
            return .started(self.begin(request, id, at: handler, parameters, for: caller()))
        }
        // The handler cannot suspend, and until it begins the caller can be freed: that needs no task of its
        // own.
        let message = request.message(id: id, parameters: parameters, for: handler)
        return .queued(handler.mailbox.queued(message, handler))
    }

    /// Has a message handled on its handler's loop, in the caller's task; ``end(_:)`` must follow.
    @inline(__always)
    nonisolated(nonsending) func handle(_ task: QueuedTask) async {
        // The task holds the handler.
        unsafe Unretained(task.handler).withUnsafeObject { $0.counters.begin() }
        await Mailbox.handle(task)
    }

    /// Ends such a message.
    func end(_ task: QueuedTask) throws(RoutingError) -> any Sendable {
        switch task.takeOutcome() {
        case .replied(let value):
            if task.message.hasReturnURL { self.conclude(task.message, value) }
            // The task holds the handler.
            unsafe Unretained(task.handler).withUnsafeObject { $0.counters.end(.replied) }
            self.close(.replied)
            return value
        case .failed(let error):
            let handler = task.handler
            let error = error.at(handler)
            self.end(.failed(error), task.message.id, task.url, at: handler, hasBegun: true, task.message)
            throw error
        }
    }

    /// Runs a message on its handler's loop, in the caller's task.
    nonisolated(nonsending) func hop(_ message: Message, _ handler: Handler) async -> Outcome {
        let mailbox = handler.mailbox
        if handler.isImmediate { return await mailbox.handle(message, handler) }
        do throws(RoutingError) {
            let queued = try mailbox.admit(message, handler)
            return await mailbox.perform(message, handler, after: queued)
        } catch {
            return .failed(error)
        }
    }

    /// Has the handler run in a task of its own; whatever prevents it ends the exchange.
    ///
    /// - Parameters:
    ///   - request: what the caller gave.
    ///   - id: the message's ID.
    ///   - handler: the handler.
    ///   - parameters: what the URL says to it.
    ///   - caller: the context of the handler that waits for the reply, if a handler does.
    ///   - isPublished: whether the message was published, so that no caller listens to this subscriber's
    ///     replies.
    ///   - chain: the middlewares around the handler, if there are any.
    /// - Returns: what the caller listens to.
    func begin(
        _ request: borrowing Request,
        _ id: CorrelationID,
        at handler: Handler,
        _ parameters: consuming Parameters,
        for caller: DeliveryContext?,
        isPublished: Bool = false,
        around chain: MiddlewareChain? = nil
    ) -> Exchange {
        var path: ReturnPath?
        if !isPublished, parameters.hasFragment {
            path = self.returnPath(of: parameters, id, hops: request.hops, from: request.extras?.external)
        }
        let exchange = Exchange(
            id,
            url: request.url,
            hops: request.hops,
            expiry: request.expiry,
            core: self,
            handler: handler,
            isPublished ? .published : .routed,
            returnPath: path,
            caller: caller
        )
        let watcher = self.watcher(of: request.expiry)
        let message = request.message(
            id: id,
            parameters: consume parameters,
            exchange: exchange,
            hasListener: !isPublished
        )
        if chain == nil, handler.code.maySuspend, handler.mailbox.begin(id) {
            exchange.start(consume message, at: handler, on: watcher)
        } else {
            self.begin(consume message, exchange, at: handler, around: chain, on: watcher)
        }
        return exchange
    }

    /// The loop whose timer watches a deadline: the caller's, and not the handler's, which the handler may
    /// block.
    @inline(__always)
    private func watcher(of expiry: Deadline) -> EventLoop? {
        expiry.exists ? self.currentShard?.eventLoop : nil
    }

    /// The same for a handler that is on another loop, has messages waiting, or is behind middlewares.
    @inline(never)
    private func begin(
        _ message: consuming Message,
        _ exchange: Exchange,
        at handler: Handler,
        around chain: MiddlewareChain?,
        on watcher: EventLoop?
    ) {
        guard let chain else { return exchange.queue(message, at: handler, on: watcher) }
        guard exchange.attach(to: handler) else {
            return exchange.finish(.failed(handler.reason(exchange.url)))
        }
        if exchange.expiry.exists { exchange.expire(at: exchange.expiry, on: watcher) }
        message.keepHeaders()
        Delivery(chain, handler, DeliveryBounds(deadline: exchange.expiry)).start(message, for: exchange)
    }
}

/// A message's ID and how it ended.
struct DeliveryResult: Sendable {
    let id: CorrelationID
    let outcome: Outcome
    /// The way of the value to the return URL, if there is one.
    var returnPath: ReturnPath?

    func reply(from url: String) throws(RoutingError) -> Reply {
        switch self.outcome {
        case .replied(let value):
            return Reply(
                correlationID: self.id,
                value: value,
                url: url,
                isLast: true,
                returnLeg: self.returnPath.map(ReturnLeg.init)
            )
        case .failed(let error): throw error
        }
    }
}
