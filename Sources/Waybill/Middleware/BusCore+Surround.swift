internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Routes a URL through the middlewares, where the caller is isolated.
    ///
    /// The caller is on the bus's first loop, its delivery has been counted against the loop's budget, and it is no
    /// handler.
    nonisolated(nonsending) func routeSurrounded(_ url: String) async throws(RoutingError) -> any Sendable {
        let lane = self.home
        guard let outermost = lane.outermost else {
            return try await self.route(Request(url: url)).outcome.value()
        }
        let found: Found
        do throws(RoutingError) {
            found = try lane.find(url)
        } catch {
            return try await self.route(Request(url: url)).outcome.value()
        }
        guard found.handler.isImmediate else {
            return try await self.route(Request(url: url), found, lane.open(), around: outermost)
                .outcome.value()
        }
        Counters.increment(lane.counters.sent)
        var message = Message(id: lane.nextID(), parameters: found.parameters, hops: 0)
        if message.hasReturnURL { message.keepHeaders() }
        do throws(RoutingError) {
            let value = try await Next(outermost, found.handler, nil)(message)
            if message.hasReturnURL { self.conclude(message, value) }
            self.close(.replied)
            return value
        } catch {
            self.close(Tally(error.code))
            throw error
        }
    }

    /// Routes a request through the middlewares.
    ///
    /// The request has inherited what it may, and there is no objection to it.
    nonisolated(nonsending) func routeSurrounded(_ request: Request, _ listener: Listener) async -> Delivered {
        let lane = self.currentLane
        guard let outermost = lane.map({ $0.outermost }) ?? self.directory.outermost else {
            return await self.route(request, listener: listener)
        }
        return await self.route(request, around: outermost, on: lane, listener)
    }

    /// Finds the handler of a request, and routes the request through the middlewares around it.
    nonisolated(nonsending) func route(
        _ request: Request,
        around outermost: Link,
        on lane: Lane?,
        _ listener: Listener
    ) async -> Delivered {
        let id = self.open()
        do throws(RoutingError) {
            let found = try self.find(request.url, on: lane, around: outermost)
            return await self.route(request, found, id, around: outermost, listener)
        } catch {
            return self.lose(request, id, error)
        }
    }

    /// Takes a request through the middlewares to its handler.
    private nonisolated(nonsending) func route(
        _ request: Request,
        _ found: Found,
        _ id: CorrelationID,
        around outermost: Link,
        _ listener: Listener = noListener
    ) async -> Delivered {
        let handler = found.handler
        guard handler.isImmediate || handler.failure != nil, request.extras?.hasDeadline != true else {
            let exchange = self.begin(request, found, id, around: outermost)
            return self.delivered(request, await exchange.listen(listener), id)
        }
        var message = request.message(id: id, parameters: found.parameters)
        message.keepHeaders()
        let outcome = await Next(outermost, handler, nil).outcome(of: message)
        if case .replied(let value) = outcome { self.conclude(message, value) }
        self.close(Tally(outcome))
        return self.delivered(request, outcome, id)
    }

    /// The end of a request that has met middlewares; if it had no handler, and none of them answered, it is uncaught.
    private func delivered(_ request: Request, _ outcome: Outcome, _ id: CorrelationID) -> Delivered {
        if case .failed(let error) = outcome, error.code == .noRoute,
            let message = self.unmatched(request, id: id)
        {
            self.tellUncaught(message)
        }
        return Delivered(id: id, outcome: outcome)
    }

    /// The handler for a URL; where there are middlewares, one that stands for it if there is none.
    ///
    /// - Throws: `invalidURL`; without middlewares `noRoute` too.
    func find(_ url: String, on lane: Lane?, around outermost: Link?) throws(RoutingError) -> Found {
        do throws(RoutingError) {
            return try self.find(url, on: lane)
        } catch {
            guard outermost != nil, error.code == .noRoute else { throw error }
            let parameters = Parameters(address: try self.address(of: url))
            return Found(handler: Handler(failure: error, core: self), parameters: parameters)
        }
    }
}

extension Outcome {
    fileprivate func value() throws(RoutingError) -> any Sendable {
        switch self {
        case .replied(let value): return value
        case .failed(let error): throw error
        }
    }
}
