internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Returns the middlewares that intercept messages now, or nil when the bus has none.
    @inline(__always)
    func chain(on shard: BorrowedShard?) -> MiddlewareChain? {
        self.registry.isPlain.load(ordering: .acquiring) ? nil : self.chainOfAny(on: shard)
    }

    @inline(never)
    private func chainOfAny(on shard: BorrowedShard?) -> MiddlewareChain? {
        if let snapshot = shard?.currentSnapshot { snapshot.value.chain } else { self.registry.chain }
    }

    /// Delivers a message through middlewares.
    ///
    /// The middlewares run in the caller's task if the handler cannot suspend, its mailbox is not serial, and
    /// the message has no deadline. Otherwise the middlewares run in a new task, so that the caller can
    /// resume before the middlewares have finished.
    @inline(never)
    func intercept(
        _ request: Request,
        ticket: consuming MessageTicket,
        target: Target,
        parameters: consuming Parameters,
        by chain: MiddlewareChain,
        on shard: BorrowedShard?
    ) -> Delivery {
        // Middlewares do not receive invalid URLs.
        if case .missing(let error) = target, error.code != .noRoute {
            return .ended(self.fail(ticket, of: request, with: error, on: shard))
        }
        let request = chain.isObserved ? request.noting(.request, on: self) : request
        var message = request.message(id: ticket.id, parameters: parameters, returningBy: self)
        message.keepHeaders()
        let endsQuickly = target.handler.map { $0.isSynchronous && !$0.mailbox.isSerial } ?? true
        guard endsQuickly, !message.hasDeadline else {
            return .ownTask(self.intercept(message, ticket: ticket, target: target, by: chain, to: .caller))
        }
        return .intercepted(Interception(message, ticket: ticket, by: chain, to: target, on: self))
    }

    /// Delivers a message through middlewares in a new task.
    func intercept(
        _ message: Message,
        ticket: consuming MessageTicket,
        target: Target,
        by chain: MiddlewareChain,
        to recipient: Recipient
    ) -> Exchange {
        let exchange = Exchange(for: message, ticket: ticket, at: target.handler, to: recipient, core: self)
        let message = recipient.isPublication ? message : message.sendingProgress(to: exchange)
        let interception = Interception(message, by: chain, to: target, on: self, deadline: message.expiry)
        exchange.startTask(for: TaskWork(code: .middlewares(interception), message: message))
        return exchange
    }

    /// Adds a middleware; `scope` is a table with the pattern of the intercepted URLs, or nil for all URLs.
    func addMiddleware(
        _ middleware: MiddlewareLink,
        scope: RouteTable<Void>? = nil,
        pattern: String = "**"
    ) -> Registration {
        let id = self.registry.changeMiddlewares { middlewares in
            // The default scheme may have changed since the caller made the table.
            let scheme = self.currentConfiguration.defaultScheme
            return middlewares.insert(MiddlewareLink(middleware, scope: scope, defaultScheme: scheme))
        }
        return Registration(pattern: pattern) {
            // A bus that was already shut down has not added the middleware.
            guard let id else { return }
            self.registry.changeMiddlewares { $0.remove(id) }
            self.forget()
        }
    }
}

/// The delivery of one message through the middlewares of a bus to its handler.
@usableFromInline
final class Interception: Sendable {
    let message: Message
    /// The obligation to settle the message; nil when an exchange has the obligation.
    private let ticket: Locked<MessageTicket?>
    let chain: MiddlewareChain
    /// The index of the first middleware of the chain for this message.
    private let first: Int
    let target: Target
    let core: BusCore
    /// The deadline that a timer already watches.
    private let deadline: Deadline
    /// Whether it was the message's turn before the first middleware began, as for each sent message.
    private let hasWaited: Bool
    /// Whether the message has its own task, which is cancelled when the message has its outcome.
    private let hasOwnTask: Bool
    /// The tasks of all attempts to deliver a message that no caller awaits; nil unless the mailbox is
    /// serial.
    private let attempts: Attempts?
    /// The tasks of earlier attempts, whose handlers may still run.
    private let earlier: [HandlerTask]

    init(
        _ message: Message,
        ticket: consuming MessageTicket? = nil,
        by chain: MiddlewareChain,
        from first: Int = 0,
        to target: Target,
        on core: BusCore,
        deadline: Deadline = .never,
        hasWaited: Bool = false,
        attempts: Attempts? = nil,
        earlier: [HandlerTask] = []
    ) {
        self.message = message
        self.hasOwnTask = ticket == nil
        self.ticket = Locked(ticket)
        self.chain = chain
        self.first = first
        self.target = target
        self.core = core
        self.deadline = deadline
        self.hasWaited = hasWaited
        self.attempts = attempts
        self.earlier = earlier
    }

    func takeTicket() -> MessageTicket? { self.ticket.withLock { $0.take() } }

    /// Delivers the message through the middlewares to its handler.
    @inline(never)  // The optimizer of Swift 6.3 aborts when it inlines the creation of `Next`.
    nonisolated(nonsending) func outcome() async -> Outcome {
        do throws(RoutingError) {
            return .replied(try await Next(self, at: self.first).attempt(self.message))
        } catch {
            return .failed(error)
        }
    }

    /// Returns the actor for a task of the interception.
    ///
    /// The actor is on the calling thread's loop if that loop belongs to the bus, and on the handler's loop
    /// otherwise.
    func isolation(on shard: BorrowedShard?) -> any LoopBound {
        shard?.isolation ?? self.target.handler?.mailbox ?? self.core.homeMailbox
    }
}

// The last part of the chain: the delivery attempts and the call of the handler.
extension Interception {
    /// Returns whether a deadline is earlier than the deadline that a timer already watches.
    func isShortened(by deadline: Deadline) -> Bool { deadline < self.deadline }

    /// Delivers a message through the remaining middlewares in a new task.
    ///
    /// `message` must have an earlier deadline than the deadline that a timer already watches. The caller of
    /// this method resumes when this deadline passes, although the task may still run.
    nonisolated(nonsending) func attempt(
        _ message: Message,
        from index: Int
    ) async throws(RoutingError) -> any Sendable {
        let url = message.parameters.url
        let deadline = message.expiry
        guard !deadline.hasPassed(by: self.core.time) else { throw .deadlineExceeded(url: url) }
        // The code that awaits the first middleware settles the message, so this exchange has no ticket.
        let exchange = Exchange(for: message, ticket: nil, at: nil, to: .caller, core: self.core)
        exchange.watchDeadline()
        let rest = Interception(
            message,
            by: self.chain,
            from: index,
            to: self.target,
            on: self.core,
            deadline: deadline,
            hasWaited: self.hasWaited,
            attempts: self.attempts,
            earlier: self.attempts?.all ?? []
        )
        let task = exchange.makeTask(for: TaskWork(code: .middlewares(rest), message: message))
        exchange.bind(task: task)
        self.attempts?.append(task)
        return try await exchange.listen(noListener).value()
    }

    /// Calls the handler without suspending, or returns nil when ``callHandler(_:)`` must handle the message.
    @inline(__always)
    func handleInPlace(_ message: Message) -> Outcome? {
        guard case .handler(let handler) = self.target, handler.isSynchronous, let shard = handler.shard,
            shard.isCurrent, !handler.isGone, !message.hasDeadline,
            self.hasWaited || !handler.mailbox.isOccupied, self.earlier.isEmpty, !self.isLate(message)
        else { return nil }
        if message.hasReturnURL { message.arrive() }
        return handler.invoke(message) { try $0.callBoxed($1) }
    }

    /// Calls the handler on its loop when it is the message's turn.
    nonisolated(nonsending) func callHandler(_ message: Message) async throws(RoutingError) -> any Sendable {
        guard let handler = self.target.handler else {
            throw self.target.failure
        }
        // A serial module handles one attempt after another.
        for task in self.earlier { _ = await task.result }
        message.arrive()
        let outcome = await handler.runInTurn(message, hasWaited: self.hasWaited)
        if outcome.isReply, self.isLate(message) {
            // The middlewares, for example a wiretap, must receive the outcome that the caller receives.
            self.core.countLateReply(at: handler)
            throw self.failure(CancellationError(), of: message)
        }
        return try outcome.at(handler).value()
    }

    /// Returns whether the message already has its outcome, so that this reply must be dropped.
    func isLate(_ message: Message) -> Bool {
        // The end of an exchange cancels the task of the message.
        message.exchange?.isOver ?? (self.hasOwnTask && Task.isCancelled)
    }

    /// Returns the error of a message whose middleware threw.
    @inline(never)
    func failure(_ error: any Error, of message: Message) -> RoutingError {
        let handler = self.target.handler
        let reason = handler?.reason(for: error, of: message)
        return (reason ?? .thrown(error, around: message.parameters.url)).at(handler)
    }
}

// The wait for the turn of a message whose middlewares run in the calling task.
extension Handler {
    /// Handles a message after its middlewares, in the calling task, immediately or when its turn comes.
    ///
    /// The caller must settle the message. `hasWaited` states whether it is already the message's turn.
    nonisolated(nonsending) func runInTurn(_ message: Message, hasWaited: Bool = false) async -> Outcome {
        if self.isSynchronous, !hasWaited {
            return await QueuedTask(message, for: self, takesSlot: self.mailbox.takesSlot).run()
        }
        return await self.mailbox.runInTurn(message, by: self, hasWaited: hasWaited)
    }
}

extension Mailbox {
    /// Runs a handler that may suspend in the calling task.
    func runInTurn(_ message: Message, by handler: Handler, hasWaited: Bool) async -> Outcome {
        if !hasWaited, let error = await self.waitForTurn(message, handler) { return .failed(error) }
        defer { if !hasWaited { self.endTurn() } }
        if let error = handler.rejection(of: message) { return .failed(error) }
        // The caller may have been cancelled while the message waited.
        if Task.isCancelled { return .failed(.cancelled(url: message.parameters.url)) }
        let context = DeliveryContext(ContextRecord(message, inside: DeliveryContext.waiting))
        defer { context.end() }
        return await DeliveryContext.local.withValue(context.inherited) {
            // The closure is isolated to the actor only if the closure uses the actor.
            _ = self
            return await handler.run(message)
        }
    }

    /// Waits until it is the message's turn, or returns the reason why the message was rejected.
    private func waitForTurn(_ message: Message, _ handler: Handler) async -> RoutingError? {
        guard case .queue(let takesSlot) = self.place(message.id, isSynchronous: false) else { return nil }
        let (url, context) = (message.parameters.url, DeliveryContext.waiting)
        if let error = self.waitError(of: message.id, to: url, inside: context) { return error }
        let task = QueuedTask(message, for: handler, takesSlot: takesSlot)
        if let error = self.addToQueue(task) { return error }
        await withTaskCancellationHandler(
            operation: {
                // The closure is isolated to the actor only if the closure uses the actor.
                _ = self
                await task.wait()
            },
            onCancel: { task.cancel() }
        )
        return task.hasOutcome ? task.takeOutcome().failure : nil
    }
}

extension Interception {
    /// The tasks of all attempts to deliver one message, also of attempts that a middleware has abandoned.
    final class Attempts: Sendable {
        private let tasks = Locked<[HandlerTask]>([])

        fileprivate var isEmpty: Bool { self.tasks.withLock { $0.isEmpty } }

        fileprivate var all: [HandlerTask] { self.tasks.withLock { $0 } }

        fileprivate func append(_ task: HandlerTask) { self.tasks.withLock { $0.append(task) } }

        nonisolated(nonsending) func waitForEnd() async {
            while let task = self.tasks.withLock({ $0.popLast() }) { _ = await task.result }
        }
    }

    /// The attempts that have possibly not ended, or nil when there are none.
    var unfinishedAttempts: Attempts? { self.attempts.flatMap { $0.isEmpty ? nil : $0 } }
}
