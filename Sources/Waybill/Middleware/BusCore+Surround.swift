internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// The middlewares around deliveries, as they are now.
    func chain(on lane: Lane?) -> Chain? {
        guard let lane else { return self.directory.chain }
        return lane.chain
    }

    /// Changes the middlewares, by adding one.
    ///
    /// - Parameters:
    ///   - pattern: the pattern of the URLs that it is around; nil for all.
    ///   - add: adds it, and says by which number it is removed.
    /// - Returns: what takes it out again.
    func surround(pattern: String?, _ add: (inout Surroundings) -> Int?) -> Registration {
        let id = self.directory.surround(add)
        return Registration(pattern: pattern ?? "**", core: self, target: .middleware(id))
    }

    /// Routes a request through the middlewares.
    ///
    /// The request has inherited what it may, and there is no objection to it.
    nonisolated(nonsending) func routeSurrounded(_ request: Request, _ listener: Listener) async -> Delivered
    {
        let lane = self.currentLane
        guard let chain = self.chain(on: lane) else {
            return await self.route(request, listener: listener)
        }
        return await self.route(request, around: chain, on: lane, listener)
    }

    /// Finds the handler of a request, and routes the request through the middlewares around it.
    nonisolated(nonsending) func route(
        _ request: Request,
        around chain: Chain,
        on lane: Lane?,
        _ listener: Listener
    ) async -> Delivered {
        let id = self.open()
        do throws(RoutingError) {
            let found = try self.find(request, on: lane, around: chain)
            return await self.route(request, found, id, around: chain, listener)
        } catch {
            return self.lose(request, id, error)
        }
    }

    /// Takes a request through the middlewares to its handler.
    private nonisolated(nonsending) func route(
        _ request: Request,
        _ found: Found,
        _ id: CorrelationID,
        around chain: Chain,
        _ listener: Listener = noListener
    ) async -> Delivered {
        let handler = found.handler
        guard handler.isImmediate && !handler.mailbox.isSerial || handler.failure != nil, !request.due.exists
        else {
            let exchange = self.begin(request, found, id, around: chain)
            return self.delivered(
                request,
                await exchange.listen(listener),
                id,
                exchange.returnPath,
                by: handler
            )
        }
        var message = request.message(id: id, parameters: found.parameters, for: handler)
        message.keepHeaders()
        handler.counters.begin()
        let outcome = await Delivery(chain, handler, nil).outcome(of: message).at(handler)
        if case .replied(let value) = outcome { self.conclude(message, value) }
        handler.counters.end(Tally(outcome))
        self.close(outcome, id, request.url, at: handler, message)
        return self.delivered(request, outcome, id, message.extras?.returnPath, by: handler)
    }

    /// The end of a request that has met middlewares; if it had no handler, and none of them answered, it is uncaught.
    private func delivered(
        _ request: Request,
        _ outcome: Outcome,
        _ id: CorrelationID,
        _ path: ReturnPath?,
        by handler: Handler
    ) -> Delivered {
        if handler.failure != nil, case .failed(let error) = outcome, error.code == .noRoute,
            let message = self.unmatched(request, id: id)
        {
            self.tellUncaught(message)
        }
        return Delivered(id: id, outcome: outcome, returnPath: path)
    }

    /// The handler for a URL; where there are middlewares, one that stands for it if there is none.
    ///
    /// - Throws: `invalidURL`; without middlewares `noRoute` too.
    func find(
        _ request: borrowing Request,
        on lane: Lane?,
        around chain: Chain?
    ) throws(RoutingError) -> Found {
        do throws(RoutingError) {
            return try self.find(request, on: lane)
        } catch {
            guard chain != nil, error.code == .noRoute else { throw error }
            let parameters = Parameters(address: try self.address(of: request.url))
            return Found(handler: Handler(failure: error, core: self), parameters: parameters)
        }
    }
}
