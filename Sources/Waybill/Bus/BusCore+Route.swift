internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Delivers a request in place, if it can be done without suspending.
    ///
    /// This is the way of most messages: the caller is on the loop, and so is a handler that answers at once.
    @inline(__always)
    func attempt(_ request: Request) -> Attempt {
        guard request.extras == nil, self.phase.load(ordering: .relaxed) == .open else { return .elsewhere }
        return self.home.deliverOnLoop { lane in
            DeliveryContext.current == nil ? lane.attempt(request) : .elsewhere
        } ?? .elsewhere
    }

    /// Delivers a request and waits for its outcome, where the caller is isolated.
    nonisolated(nonsending) func route(
        _ request: consuming Request,
        after attempt: Attempt,
        listener: Listener = noListener
    ) async -> Delivered {
        var attempt = attempt
        if case .elsewhere = attempt {
            if let context = DeliveryContext.current { request.inherit(from: context) }
            if let error = self.objection(to: request) {
                return self.lose(request, self.open(), error)
            }
            guard let lane = self.currentLane else { return await self.routeFromOutside(request, listener) }
            while !lane.eventLoop.consumeDeliveryBudget() { await lane.anchor.turn() }
            attempt = lane.assumeOnLoop { $0.attempt(request) }
        }
        switch attempt {
        case .replied(let id, let value): return Delivered(id: id, outcome: .replied(value))
        case .failed(let error, let id): return Delivered(id: id, outcome: .failed(error))
        case .lost(let error, let id): return self.lose(request, id, error)
        case .handOver(let found, let id): return await self.handOver(request, found, id, listener)
        case .elsewhere: preconditionFailure("a lane always gets somewhere")
        }
    }

    private nonisolated(nonsending) func routeFromOutside(
        _ request: Request,
        _ listener: Listener
    ) async -> Delivered {
        let id = self.open()
        let found: Found
        do throws(RoutingError) {
            found = try self.find(request.url, on: nil)
        } catch {
            return self.lose(request, id, error)
        }
        return await self.handOver(request, found, id, listener)
    }

    /// Ends a request that reaches no handler.
    @inline(never)
    private func lose(_ request: Request, _ id: CorrelationID, _ error: RoutingError) -> Delivered {
        let outcome = Outcome.failed(error)
        self.close(Tally(outcome))
        if error.code == .noRoute, let message = self.unmatched(request, id: id) {
            self.tellUncaught(message)
        }
        return Delivered(id: id, outcome: outcome)
    }
}
