internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Has the handler of a request called, if that can be done here and now.
    ///
    /// This is the way of most messages: the caller is on the loop, and so is a handler that answers at once.
    @inline(__always)
    func deliver(
        _ url: String,
        _ request: Request?,
        _ call: (Handler, Message) throws -> Void
    ) -> Attempt {
        let lane = self.home
        guard self.admitsDelivery(on: lane) else { return .elsewhere }
        return lane.deliver(url, request, call)
    }

    /// Whether the caller is on a lane's loop, may go on without suspending, and is no handler.
    ///
    /// One delivery is counted against what the loop may do before it polls.
    @inline(__always)
    func admitsDelivery(on lane: Lane) -> Bool {
        guard self.phase.load(ordering: .relaxed) == .open, lane.unretainedLoop.admitsDelivery() else {
            return false
        }
        // In a task that a handler has started in place: it inherits the handler's hops, or it might never end.
        return !lane.isCalling && DeliveryContext.current == nil
    }

    /// Delivers a request and waits for its outcome, where the caller is isolated.
    nonisolated(nonsending) func route(
        _ request: consuming Request,
        listener: Listener = noListener
    ) async -> Delivered {
        if let context = self.inherited { request.inherit(from: context) }
        await EventLoop.yieldIfDue()
        if let error = self.objection(to: request) {
            await self.yieldThread()
            return self.lose(request, self.open(), error)
        }
        guard let lane = self.currentLane else { return await self.routeFromOutside(request, listener) }
        var value: (any Sendable)?
        var path: ReturnPath?
        let attempt = lane.deliver(request.url, request) { handler, message in
            let reply = try handler.call(message)
            self.conclude(message, reply)
            value = reply
            path = message.extras?.returnPath
        }
        if case .called(let id) = attempt, let value {
            return Delivered(id: id, outcome: .replied(value), returnPath: path)
        }
        return await self.route(request, after: attempt, listener)
    }

    /// Takes a request on from where it got without suspending.
    nonisolated(nonsending) func route(
        _ request: Request,
        after attempt: Attempt,
        _ listener: Listener = noListener
    ) async -> Delivered {
        switch attempt {
        case .failed(let error, let id):
            self.show(id, request.url, error, isAwaited: true, self.unmatched(request, id: id))
            return Delivered(id: id, outcome: .failed(error))
        case .lost(let error, let id): return self.lose(request, id, error)
        case .handOver(let found, let id): return await self.handOver(request, found, id, listener)
        case .surrounded: return await self.routeSurrounded(request, listener)
        case .elsewhere, .called: return await self.route(request, listener: listener)
        }
    }

    private nonisolated(nonsending) func routeFromOutside(
        _ request: Request,
        _ listener: Listener
    ) async -> Delivered {
        if let chain = self.directory.chain {
            return await self.route(request, around: chain, on: nil, listener)
        }
        let id = self.open()
        let found: Found
        do throws(RoutingError) {
            found = try self.find(request, on: nil)
        } catch {
            await self.yieldThread()
            return self.lose(request, id, error)
        }
        return await self.handOver(request, found, id, listener)
    }

    /// Gives the thread back before a call ends that has not suspended, unless the thread runs a loop of the bus.
    ///
    /// A task of the global pool that repeats a refused call would hold one of the pool's few threads for ever. On a
    /// loop the budget does the same with less.
    nonisolated(nonsending) func yieldThread() async {
        if self.currentLane == nil { await Task.yield() }
    }

    /// Ends a request that reaches no handler.
    @inline(never)
    func lose(_ request: Request, _ id: CorrelationID, _ error: RoutingError) -> Delivered {
        let outcome = Outcome.failed(error)
        self.close(outcome, id, request.url, self.unmatched(request, id: id))
        if error.code == .noRoute, let message = self.unmatched(request, id: id) {
            self.tellUncaught(message)
        }
        return Delivered(id: id, outcome: outcome)
    }
}
