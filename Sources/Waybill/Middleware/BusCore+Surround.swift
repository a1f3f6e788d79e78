internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// A message on its way to a handler that answers at once, and that whoever made it holds.
///
/// It cannot be copied, so nothing is counted for it on its way through asynchronous code.
private struct Opening: ~Copyable {
    let message: Message
    /// Nil if the message has to go the long way.
    let handler: Unretained<Handler>?

    init(_ message: consuming Message, _ handler: Unretained<Handler>?) {
        self.message = message
        self.handler = handler
    }

    @inline(__always)
    static var none: Self {
        Self(Message(id: CorrelationID(rawValue: 0), parameters: .none, hops: 0), nil)
    }
}

extension Lane {
    @inline(never)
    fileprivate func open(_ url: String, in snapshot: Snapshot) -> Opening {
        do throws(RoutingError) {
            var match = try snapshot.match(url)
            guard let handler = self.handler(of: match), handler.isImmediate,
                let parameters = match.take()?.take()
            else { return .none }
            var message = Message(
                id: self.open(),
                parameters: parameters,
                hops: 0,
                due: .never,
                extras: nil,
                for: handler
            )
            if message.hasReturnURL { message.keepHeaders() }
            return Opening(message, Unretained(handler))
        } catch {
            return .none
        }
    }
}

extension BusCore {
    /// Routes a URL through the middlewares, where the caller is isolated.
    ///
    /// The caller is on the bus's first loop, its delivery has been counted against the loop's budget, and it is no
    /// handler.
    @inline(__always)
    nonisolated(nonsending) func routeSurrounded(_ url: String) async throws(RoutingError) -> any Sendable {
        let snapshot = self.home.snapshot.load()
        guard snapshot.generation == self.directory.generation.load(ordering: .acquiring),
            let outermost = snapshot.outermost
        else { return try await self.routeAgain(url) }
        let opening = self.home.open(url, in: snapshot)
        guard let handler = opening.handler else { return try await self.routeAgain(url) }
        // It holds the handler.
        defer { withExtendedLifetime(snapshot) {} }
        do throws(RoutingError) {
            let value = try await Next(outermost, handler, nil)(opening.message)
            if opening.message.hasReturnURL { self.conclude(opening.message, value) }
            handler.with { $0.counters.count(.replied) }
            if self.home.isCurrent { self.home.counters.close(.replied) } else { self.close(.replied) }
            return value
        } catch {
            let outcome = Outcome.failed(error)
            handler.with { $0.counters.count(Tally(outcome)) }
            self.close(outcome, opening.message.id, url, at: handler.object, opening.message)
            throw error
        }
    }

    @inline(never)
    private nonisolated(nonsending) func routeAgain(_ url: String) async throws(RoutingError) -> any Sendable
    {
        try await self.routeSurrounded(Request(url: url), noListener).outcome.value()
    }

    /// Routes a request through the middlewares.
    ///
    /// The request has inherited what it may, and there is no objection to it.
    nonisolated(nonsending) func routeSurrounded(_ request: Request, _ listener: Listener) async -> Delivered
    {
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
            let found = try self.find(request, on: lane, around: outermost)
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
        guard handler.isImmediate || handler.failure != nil, !request.due.exists else {
            let exchange = self.begin(request, found, id, around: outermost)
            return self.delivered(request, await exchange.listen(listener), id, exchange.returnPath)
        }
        var message = request.message(id: id, parameters: found.parameters, for: handler)
        message.keepHeaders()
        handler.counters.begin()
        let outcome = await Delivery(outermost, handler, nil).outcome(of: message)
        if case .replied(let value) = outcome { self.conclude(message, value) }
        handler.counters.end(Tally(outcome))
        self.close(outcome, id, request.url, at: handler, message)
        return self.delivered(request, outcome, id, message.extras?.returnPath)
    }

    /// The end of a request that has met middlewares; if it had no handler, and none of them answered, it is uncaught.
    private func delivered(
        _ request: Request,
        _ outcome: Outcome,
        _ id: CorrelationID,
        _ path: ReturnPath?
    ) -> Delivered {
        if case .failed(let error) = outcome, error.code == .noRoute,
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
        around outermost: Link?
    ) throws(RoutingError) -> Found {
        do throws(RoutingError) {
            return try self.find(request, on: lane)
        } catch {
            guard outermost != nil, error.code == .noRoute else { throw error }
            let parameters = Parameters(address: try self.address(of: request.url))
            return Found(handler: Handler(failure: error, core: self), parameters: parameters)
        }
    }
}
