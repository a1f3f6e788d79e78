internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension Lane {
    /// Has the handler of a request called in place, if it is on this loop and cannot suspend.
    ///
    /// The message is made here and never moves: `call` runs below, instead of the message being returned above.
    ///
    /// - Parameters:
    ///   - url: where to.
    ///   - request: what else the caller gave, if anything.
    ///   - call: calls the handler with the message, and keeps the value.
    /// - Returns: how far the request got.
    @inline(__always)
    func deliver(
        _ url: String,
        _ request: Request?,
        _ call: (Handler, Message) throws -> Void
    ) -> Attempt {
        guard self.isPlain else { return self.deliverAnew(url, request, call) }
        let id = self.open()
        do throws(RoutingError) {
            var match = try self.match(url)
            guard let handler = self.handler(of: match), let parameters = match.take()?.take() else {
                return self.lost(url, id)
            }
            guard handler.with({ $0.isImmediate && $0.loop == self.loop && !$0.mailbox.isOccupied }) else {
                let found = Found(handler: handler.object, parameters: parameters)
                return self.deliver(url, request, id, to: found, call)
            }
            return self.deliverInPlace(url, request, id, to: handler, parameters, call)
        } catch {
            return self.lost(url, id, error)
        }
    }

    /// Looks a URL up in the routes that the loop last saw.
    @inline(__always)
    func match(_ url: String) throws(RoutingError) -> RouteMatch? {
        try self.snapshot.withUnretainedThrowing { snapshot throws(RoutingError) in try snapshot.match(url) }
    }

    /// The handler of such a match, for as long as the loop sees these routes, or calls it in place.
    @inline(__always)
    func handler(of match: RouteMatch?) -> Unretained<Handler>? {
        guard let route = match?.route else { return nil }
        return self.snapshot.withUnretained { $0.unretainedHandler(at: route) }
    }

    /// What becomes of a URL that no route takes.
    @inline(never)
    private func lost(_ url: String, _ id: CorrelationID, _ failure: RoutingError? = nil) -> Attempt {
        do throws(RoutingError) {
            return .handOver(try self.snapshot.load().findConnector(url, failure), id)
        } catch {
            return .lost(error, id)
        }
    }

    /// Counts a message that the loop gives to the bus, and names it.
    @inline(__always)
    func open() -> CorrelationID {
        Counters.increment(self.counters.sent)
        return self.nextID()
    }

    /// Delivers a request after the routes have changed, unless middlewares surround it.
    @inline(never)
    private func deliverAnew(
        _ url: String,
        _ request: Request?,
        _ call: (Handler, Message) throws -> Void
    ) -> Attempt {
        if self.isSurrounded { return .surrounded }
        let id = self.open()
        do throws(RoutingError) {
            let found = try self.find(url, request?.parameters)
            return self.deliver(url, request, id, to: found, call)
        } catch {
            return .lost(error, id)
        }
    }

    /// Delivers a request to a handler that may be elsewhere, may have others waiting, and may stand for several.
    @inline(never)
    private func deliver(
        _ url: String,
        _ request: Request?,
        _ id: CorrelationID,
        to found: Found,
        _ call: (Handler, Message) throws -> Void
    ) -> Attempt {
        let found = found.member(on: self.loop, request?.parameters)
        let handler = found.handler
        guard handler.isImmediate, handler.loop == self.loop, handler.mailbox.isClear else {
            return .handOver(found, id)
        }
        defer { withExtendedLifetime(handler) {} }
        return self.deliverInPlace(url, request, id, to: Unretained(handler), found.parameters, call)
    }

    /// Calls the handler of a request, which is here, and before which nobody waits.
    ///
    /// Of a handler that the snapshot holds no reference is counted: what is replaced while a handler is called in place is
    /// kept until it has returned.
    @inline(__always)
    private func deliverInPlace(
        _ url: String,
        _ request: Request?,
        _ id: CorrelationID,
        to handler: Unretained<Handler>,
        _ parameters: consuming Parameters,
        _ call: (Handler, Message) throws -> Void
    ) -> Attempt {
        if let passed = request?.parameters { parameters.pass(passed) }
        let hops = request?.hops ?? 0
        let due = request?.due ?? .never
        let outer = self.begin(InPlace(hops: hops, due: due))
        defer { self.end(outer) }
        let message = Message(
            id: id,
            parameters: parameters,
            hops: hops,
            due: due,
            extras: request?.extras,
            for: handler
        )
        do {
            try handler.withThrowing { try call($0, message) }
            Counters.increment(self.counters.replied)
            handler.with { Counters.increment($0.counters.repliedInPlace) }
            return .called(id)
        } catch {
            let error = handler.object.failure(error, of: message)
            let tally = Tally(error.code)
            handler.with { $0.counters.count(tally) }
            // Who watches dead letters is told above, where there is a bus.
            self.counters.close(tally)
            return .failed(error, id)
        }
    }
}
