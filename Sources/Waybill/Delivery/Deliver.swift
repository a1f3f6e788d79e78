internal import WaybillEventLoop
internal import WaybillRouting

/// The state of an awaited message that was delivered as far as possible without suspending.
@usableFromInline
enum Delivery: Sendable {
    /// The message has its outcome: a reply or a failure.
    case ended(DeliveryResult)
    /// The message has its own task, which runs the handler or waits for the message's turn. The handler may
    /// have ended already.
    case ownTask(Exchange)
    /// The handler cannot suspend, and runs in the caller's task when it is the message's turn.
    case callersTask(QueuedTask)
    /// Middlewares intercept the message in the caller's task.
    case intercepted(Interception)
    /// The delivery begins when the caller awaits the result. The message has not been counted as sent.
    indirect case postponed(Request, by: PeerAccess?)
}

/// The ID of a message and the outcome of the message.
@usableFromInline
struct DeliveryResult: Sendable {
    let id: CorrelationID
    let outcome: Outcome
    /// The return URL that also receives the value of the reply, or nil.
    var returnPath: ReturnPath?

    func reply(from url: String) throws(RoutingError) -> Reply {
        Reply(
            correlationID: self.id,
            content: try self.outcome.value(),
            url: url,
            isLast: true,
            returnLeg: self.returnPath.map(ReturnLeg.init),
            answer: nil
        )
    }
}

extension BusCore {
    /// Takes an awaited message through the six steps (admit, resolve, intercept, place, invoke, settle), as
    /// far as possible without suspending.
    ///
    /// `call` calls the handler in place. A message that waits uses ``Handler/callBoxed(_:)``.
    @inline(never)  // A call borrows the parameters. Inlined code would retain and release them.
    func performSteps(
        of request: borrowing Request,
        on shard: BorrowedShard?,
        _ call: (Handler, Message) throws -> (any Sendable)? = { try $0.callBoxed($1) }
    ) -> Delivery {
        let ticket = self.openTicket(on: shard)

        // Admit: reject a request that the bus must not deliver.
        if let error = self.admissionError(of: request) {
            return .ended(self.fail(ticket, of: request, with: error, on: shard))
        }

        // Resolve: find the handler of the URL.
        let (target, parameters) = self.resolve(request, on: shard)

        // Intercept: pass the message through the middlewares, if the bus has any.
        if let chain = self.chain(on: shard) {
            return self.intercept(
                request,
                ticket: ticket,
                target: target,
                parameters: parameters,
                by: chain,
                on: shard
            )
        }

        switch consume target {
        case .handler(let handler):
            return self.placeAndInvoke(
                request,
                ticket: ticket,
                parameters: parameters,
                at: handler,
                on: shard,
                call
            )
        case .missing(let error): return .ended(self.fail(ticket, of: request, with: error, on: shard))
        case .instances:
            // `resolve` has already chosen one of the instances.
            preconditionFailure("internal error: no instance was chosen for a route of several instances")
        }
    }

    /// Takes an awaited message through the last three steps: place, invoke, settle.
    @inline(never)  // A call borrows the parameters, as above.
    private func placeAndInvoke(
        _ request: borrowing Request,
        ticket: consuming MessageTicket,
        parameters: consuming Parameters,
        at handler: Handler,
        on shard: BorrowedShard?,
        _ call: (Handler, Message) throws -> (any Sendable)?
    ) -> Delivery {
        let message = request.message(id: ticket.id, parameters: parameters, returningBy: self)

        // The handler may have been unregistered after the step "resolve" found it.
        if handler.isGone {
            let error = handler.retirementError(request.url).at(handler)
            return .ended(self.fail(ticket, of: message, with: error, at: handler, on: shard))
        }

        // Place: decide whether the handler begins now or the message waits. If a handler that may suspend
        // begins now, this call also begins its turn.
        let isSynchronous = handler.isSynchronous
        let place = handler.mailbox.place(ticket.id, isSynchronous: isSynchronous)
        guard case .now = place, isSynchronous else {
            return self.deliverInTask(message, ticket: ticket, at: handler, place: place)
        }

        // Invoke: call the handler.
        let outcome = handler.invoke(message, call)

        // Settle: count the outcome, and send the reply's value to the return URL.
        let id = ticket.id
        self.settle(ticket, as: outcome, of: message, for: .caller, at: handler, on: shard)
        return .ended(DeliveryResult(id: id, outcome: consume outcome, returnPath: message.returnPath))
    }

    /// Delivers an awaited message whose handler is not called in place, in the caller's task or in a new
    /// task.
    @inline(never)
    private func deliverInTask(
        _ message: Message,
        ticket: consuming MessageTicket,
        at handler: Handler,
        place: Mailbox.Place
    ) -> Delivery {
        if case .queue(let takesSlot) = place, handler.isSynchronous, !message.hasDeadline {
            // The message has no deadline, and the handler cannot suspend. The handler can therefore run in
            // the caller's task. Until the handler begins, the bus can still resume the caller with a
            // failure.
            return .callersTask(QueuedTask(message, for: handler, ticket: ticket, takesSlot: takesSlot))
        }
        let exchange = Exchange(for: message, ticket: ticket, at: handler, to: .caller, core: self)
        exchange.startOrEnqueueTask(of: message.sendingProgress(to: exchange), at: handler, place: place)
        return .ownTask(exchange)
    }
}

// The part of a delivery that may suspend the caller.
extension BusCore {
    nonisolated(nonsending) func deliverAndWait(
        _ request: Request,
        listener: Listener = noListener
    ) async -> DeliveryResult {
        await self.result(of: self.deliverHere(request), listener: listener)
    }

    /// Waits for the outcome of a message that was delivered as far as possible without suspending.
    nonisolated(nonsending) func result(
        of delivery: Delivery,
        listener: Listener = noListener
    ) async -> DeliveryResult {
        switch delivery {
        case .ended(let result):
            if !result.outcome.isReply { await self.yieldUnlessOnLoop() }
            return result
        case .ownTask(let exchange):
            let outcome = await exchange.listen(listener)
            return exchange.result(outcome)
        case .callersTask(let task):
            task.handler.counters.countInFlight()
            let outcome = await task.run()
            return self.settleInCallersTask(
                task.takeTicket(),
                as: outcome,
                of: task.message,
                at: task.handler
            )
        case .intercepted(let interception):
            let handler = interception.target.handler
            handler?.counters.countInFlight()
            let outcome = await interception.outcome()
            return self.settleInCallersTask(
                interception.takeTicket(),
                as: outcome,
                of: interception.message,
                at: handler
            )
        case .postponed(let request, let access):
            // Yield once only: a second yield would let later messages overtake this one.
            await EventLoop.yieldIfDue()
            // The exposed URLs and the routes may have changed since the bus last checked the peer's access.
            if let access, let error = self.admissionError(of: request, by: access) {
                return self.fail(request, error, for: .peer(awaits: true))
            }
            let request = access == nil ? request : self.withoutPathOverrides(request)
            let delivery = self.performSteps(of: request, on: self.currentShard)
            return await self.result(of: delivery, listener: listener)
        }
    }

    /// Settles a message whose handler ran in the task of its caller.
    private func settleInCallersTask(
        _ ticket: consuming MessageTicket?,
        as outcome: Outcome,
        of message: Message,
        at handler: Handler?
    ) -> DeliveryResult {
        let outcome = outcome.at(handler)
        guard let ticket = consume ticket else {
            preconditionFailure("internal error: message \(message.id) already has an outcome")
        }
        self.settle(
            ticket,
            as: outcome,
            of: message,
            for: .caller,
            at: handler,
            isCountedInFlight: handler != nil,
            on: self.currentShard
        )
        return DeliveryResult(id: message.id, outcome: outcome, returnPath: message.returnPath)
    }

    /// Yields the thread at the end of a call that has not suspended, unless the thread runs a loop of the
    /// bus.
    ///
    /// A task of the global pool that repeats a rejected call would otherwise never release its thread. On a
    /// loop, the budget of deliveries makes the task yield as well, at a lower cost.
    nonisolated(nonsending) func yieldUnlessOnLoop() async {
        if self.currentShard == nil { await Task.yield() }
    }
}
