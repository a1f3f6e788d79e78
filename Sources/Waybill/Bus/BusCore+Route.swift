internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Finds the handler of a request, if it can be called here and now.
    ///
    /// This is the way of most messages: the caller is on the loop, and so is a handler that answers at once.
    @inline(__always)
    func prepare(_ request: Request) -> Preparation {
        guard request.extras == nil, self.phase.load(ordering: .relaxed) == .open else { return .elsewhere }
        return self.home.deliverOnLoop { lane in
            DeliveryContext.current == nil ? lane.prepare(request) : .elsewhere
        } ?? .elsewhere
    }

    /// Delivers a request and waits for its outcome, where the caller is isolated.
    nonisolated(nonsending) func route(
        _ request: consuming Request,
        after preparation: Preparation,
        listener: Listener = noListener
    ) async -> Delivered {
        var lane = self.home
        var preparation = preparation
        if case .elsewhere = preparation {
            if let context = DeliveryContext.current { request.inherit(from: context) }
            if let error = self.objection(to: request) {
                return self.lose(request, self.open(), error)
            }
            await self.admit()
            guard let current = self.currentLane else {
                return await self.routeFromOutside(request, listener)
            }
            lane = current
            preparation = lane.assumeOnLoop { $0.prepare(request) }
        }
        switch preparation {
        case .ready(let parcel): return self.call(parcel, on: lane)
        case .lost(let error, let id): return self.lose(request, id, error)
        case .handOver(let found, let id): return await self.handOver(request, found, id, listener)
        case .elsewhere: preconditionFailure("a lane always gets somewhere")
        }
    }

    /// Calls the handler of a parcel that is ready for it.
    private func call(_ parcel: Parcel, on lane: Lane) -> Delivered {
        guard case .immediate(let body) = parcel.handler.body else {
            preconditionFailure("only a handler that cannot suspend is ready")
        }
        let outcome = parcel.call(body)
        switch outcome {
        case .replied(let value):
            lane.close()
            self.conclude(parcel.message, value)
        case .failed(let error):
            lane.close(error)
        }
        return Delivered(id: parcel.message.id, outcome: outcome)
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
