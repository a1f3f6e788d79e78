internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Delivers a request and waits for its outcome, where the caller is isolated.
    ///
    /// On a loop of the bus, a handler of that loop that cannot suspend is called here and now. Everything else takes
    /// the long way.
    nonisolated(nonsending) func route(
        _ request: consuming Request,
        listener: Listener = noListener
    ) async -> Delivered {
        if let context = DeliveryContext.current { request.inherit(from: context) }
        if let error = self.objection(to: request) { return self.lose(request, self.open(), error) }
        guard let lane = self.currentLane else { return await self.routeFromOutside(request, listener) }
        while !lane.eventLoop.consumeDeliveryBudget() { await Task.yield() }
        switch lane.assumeOnLoop({ $0.attempt(request) }) {
        case .done(let delivered, let message):
            if message.parameters.hasFragment { self.conclude(message, delivered.outcome) }
            return delivered
        case .lost(let id, let error):
            return self.lose(request, id, error)
        case .handOver(let found, let id):
            return await self.handOver(request, found, id, listener)
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
