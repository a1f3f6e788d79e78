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
        if handler.isImmediate, !request.due.exists {
            // It is done as soon as its loop comes to it, and free until then: that needs no task of its own.
            let message = request.message(id: id, parameters: found.parameters, for: handler)
            handler.counters.begin()
            let outcome = await self.hop(message, handler).at(handler)
            if case .replied(let value) = outcome { self.conclude(message, value) }
            handler.counters.end(Tally(outcome))
            self.close(outcome, id, request.url, at: handler, message)
            return Delivered(id: id, outcome: outcome, returnPath: message.extras?.returnPath)
        }
        let exchange = self.begin(request, found, id)
        let outcome = await exchange.listen(listener)
        return Delivered(id: id, outcome: outcome, returnPath: exchange.returnPath)
    }

    /// Runs a message on its handler's loop, in the caller's task.
    nonisolated(nonsending) func hop(_ message: Message, _ handler: Handler) async -> Outcome {
        let mailbox = handler.mailbox
        if handler.isImmediate { return await mailbox.call(message, handler) }
        do throws(RoutingError) {
            let queued = try mailbox.admit(message, handler, for: nil, inside: DeliveryContext.waiting)
            return await mailbox.perform(message, handler, for: nil, after: queued)
        } catch {
            return .failed(error)
        }
    }

    /// Has the handler run in a task of its own; whatever prevents it ends the exchange.
    ///
    /// - Parameters:
    ///   - request: what the caller gave.
    ///   - found: the handler.
    ///   - id: the message's ID.
    ///   - isPublished: whether there are other subscribers, so that nobody listens to this one's replies.
    ///   - chain: the middlewares around the handler, if there are any.
    /// - Returns: what the caller listens to.
    func begin(
        _ request: Request,
        _ found: Found,
        _ id: CorrelationID,
        isPublished: Bool = false,
        around chain: Chain? = nil
    ) -> Exchange {
        let handler = found.handler
        let path = isPublished ? nil : self.returnPath(of: found.parameters, id, hops: request.hops)
        let origin = isPublished ? Exchange.Origin.published : .routed
        let exchange = Exchange(
            id,
            url: request.url,
            core: self,
            origin,
            returnPath: path,
            caller: DeliveryContext.waiting
        )
        var message =
            isPublished
            ? request.message(id: id, parameters: found.parameters)
            : request.message(id: id, parameters: found.parameters, exchange: exchange)
        if chain != nil { message.keepHeaders() }
        guard exchange.bind(handler: handler) else {
            handler.counters.count(.deadLettered)
            exchange.finish(.failed(handler.reason(exchange.url)), at: handler)
            return exchange
        }
        var queued: QueuedTask?
        if chain == nil {
            do throws(RoutingError) {
                queued = try handler.mailbox.admit(message, handler, for: exchange, inside: exchange.caller)
            } catch {
                exchange.finish(.failed(error), at: handler)
                return exchange
            }
        }
        if request.due.exists {
            // Not the loop that the handler may be holding.
            exchange.expire(at: request.due, on: self.currentLane?.eventLoop)
        }
        if let chain {
            let stage = Stage(deadline: request.due)
            Delivery(chain, handler, stage).start(message, for: exchange)
        } else {
            handler.mailbox.start(message, handler, exchange, after: queued)
        }
        return exchange
    }
}
