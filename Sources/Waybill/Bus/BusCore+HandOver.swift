internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Takes a request to a handler on another loop, or to one that may suspend.
    nonisolated(nonsending) func handOver(
        _ request: Request,
        _ found: Found,
        _ id: CorrelationID,
        _ listener: Listener
    ) async -> Delivered {
        let handler = found.handler
        if handler.isImmediate, request.extras?.hasDeadline != true {
            // It cannot be set free early, and it will be done as soon as its loop gets there: a plain hop does.
            let message = request.message(id: id, parameters: found.parameters)
            let outcome = await self.hop(message, handler)
            if case .replied(let value) = outcome { self.conclude(message, value) }
            self.close(Tally(outcome))
            return Delivered(id: id, outcome: outcome)
        }
        let exchange = self.begin(request, found, id)
        let outcome = await exchange.listen(listener)
        return Delivered(id: id, outcome: outcome)
    }

    private nonisolated(nonsending) func hop(_ message: Message, _ handler: Handler) async -> Outcome {
        do throws(RoutingError) {
            try handler.mailbox.enter(message)
        } catch {
            return .failed(error)
        }
        return await handler.mailbox.perform(message, handler)
    }

    /// Has the handler run in a task of its own; whatever prevents it ends the exchange.
    ///
    /// - Parameters:
    ///   - request: what the caller gave.
    ///   - found: the handler.
    ///   - id: the message's ID.
    ///   - isHeard: whether somebody sees replies before the last one.
    /// - Returns: what the caller listens to.
    func begin(_ request: Request, _ found: Found, _ id: CorrelationID, isHeard: Bool = true) -> Exchange {
        let exchange = Exchange(url: request.url, core: self)
        let handler = found.handler
        let message =
            isHeard
            ? request.message(id: id, parameters: found.parameters, exchange: exchange)
            : request.message(id: id, parameters: found.parameters)
        guard exchange.bind(handler: handler) else {
            exchange.finish(.failed(handler.reason(exchange.url)))
            return exchange
        }
        do throws(RoutingError) {
            try handler.mailbox.enter(message)
        } catch {
            exchange.finish(.failed(error))
            return exchange
        }
        if let deadline = request.extras?.deadline {
            let timer = self.timekeeper.schedule(at: deadline) {
                exchange.finish(.failed(.deadlineExceeded(url: exchange.url)))
            }
            exchange.bind(timer: timer)
        }
        handler.mailbox.start(message, handler, exchange)
        return exchange
    }

    /// The loop whose timer watches a deadline of the calling thread: not the one that the handler may be holding.
    private var timekeeper: EventLoop { self.currentLane?.eventLoop ?? Self.timekeeper }

    /// Watches the deadlines of callers that are on no loop of a bus; made when the first one has a deadline.
    private static let timekeeper = EventLoop(name: "waybill-deadlines")
}
