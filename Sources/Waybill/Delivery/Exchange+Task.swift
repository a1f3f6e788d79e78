internal import WaybillEventLoop
internal import WaybillRouting

/// The task of a handler.
///
/// The task's type can throw, although no handler's task throws. The runtime has a single function that
/// starts tasks, and this function expects a closure that can throw. A closure that cannot throw is wrapped
/// in another closure, which costs an allocation and a tenth of the time of a suspending handler.
typealias HandlerTask = Task<Void, any Error>

/// Returns 1, the number of iterations of the `for` statement that calls `Task.immediate`.
///
/// Swift 6.3 inlines `Task.immediate` only in a `for` statement. A call that is not inlined registers an
/// executor preference even when there is none. At each change of isolation, the runtime then looks up this
/// preference under a lock, which costs a seventh of the time of a task. The compiler would remove the `for`
/// statement if it inlined this function.
@inline(never)
private func once() -> Int { 1 }

/// The work of the task that an exchange starts.
struct TaskWork: Sendable {
    /// The code that receives the message.
    enum Code: Sendable {
        case handler(Handler)
        /// The middlewares, and then the handler if the message has one.
        case middlewares(Interception)
    }

    let code: Code
    let message: Message
    /// Whether the task ends the message's turn in the mailbox.
    var endsTurn = false

    /// The handler; nil when the intercepted message has no handler.
    var handler: Handler? {
        switch self.code {
        case .handler(let handler): handler
        case .middlewares(let interception): interception.target.handler
        }
    }

    /// The delivery through middlewares; nil when the message is not intercepted.
    var interception: Interception? {
        if case .middlewares(let interception) = self.code { interception } else { nil }
    }

    /// The work of the peer that sent the message; nil if nobody counts it.
    fileprivate var peerWork: ExternalWork? { self.message.extras?.work }
}

extension Exchange {
    /// Starts the task that handles the message now, and registers the events that can end the exchange
    /// early.
    ///
    /// The calling thread must run the loop of the handler's mailbox, and it must be the message's turn. For
    /// an intercepted message, neither is necessary.
    func startTask(for work: TaskWork) {
        if let handler = work.handler, let error = handler.rejection(of: work.message) {
            if work.endsTurn { handler.mailbox.endTurn() }
            return self.finish(.failed(error))
        }
        if work.interception == nil {
            // The handler runs in this call until it suspends. Most handlers end before that, and need
            // neither a timer nor a registration of the exchange. During this call, only a shutdown by the
            // handler can end the exchange before the handler ends.
            let task = self.makeTask(for: work)
            if self.isOver {
                if self.taskNumber != CurrentTask.none { task.cancel() }
                return
            }
            self.bind(task: task)
            self.watchForEarlyEnd(of: work)
        } else if self.watchForEarlyEnd(of: work) {
            // A middleware may run for long before it suspends, so the events are registered first.
            self.bind(task: self.makeTask(for: work))
        }
    }

    /// Registers the exchange and starts the deadline's timer, or returns false when the exchange has ended.
    @discardableResult
    private func watchForEarlyEnd(of work: TaskWork) -> Bool {
        // End the exchange if the handler has been unregistered, unless this handler shuts the bus down.
        if !self.attach(to: work.handler), !self.core.isExempt(self) {
            // An intercepted message has no task yet, so end its turn here. Any other task has already
            // started, and ends the turn itself.
            if work.endsTurn, work.interception != nil { work.handler?.mailbox.endTurn() }
            self.finish(.failed(work.handler?.retirementError(self.url) ?? .shutDown(url: self.url)))
            return false
        }
        self.watchDeadline()
        return true
    }

    /// Starts the task of a message now, or enqueues the message with its task.
    func startOrEnqueueTask(of message: Message, at handler: Handler, place: Mailbox.Place) {
        let work = TaskWork(code: .handler(handler), message: message, endsTurn: true)
        switch place {
        case .now: self.startTask(for: work)
        case .queue(let takesSlot): self.enqueueTask(for: work, at: handler, takesSlot: takesSlot)
        }
    }

    /// Enqueues the message with its task, which inherits the task-local values of the caller.
    private func enqueueTask(for work: TaskWork, at handler: Handler, takesSlot: Bool) {
        let mailbox = handler.mailbox
        if let error = mailbox.waitError(of: self.id, to: self.url, inside: self.outer) {
            return self.finish(.failed(error))
        }
        let queued = QueuedTask(work.message, for: handler, exchange: self, takesSlot: takesSlot)
        guard self.attach(to: handler, queued) else {
            return self.finish(.failed(handler.retirementError(self.url)))
        }
        // Create the task before the message is enqueued. Otherwise the next message would overtake this
        // message.
        self.bind(task: self.makeTask(for: work, in: queued))
        // Start the timer before `addToQueue`, because the handler may begin before that method returns.
        self.watchDeadline()
        if let error = mailbox.addToQueue(queued) {
            self.finish(.failed(error))
            queued.reject(error)
        }
    }

    /// Starts the task of a handler; every such task is started by this function.
    ///
    /// The task waits in the mailbox with `queued` for its turn. When `queued` is nil and the calling thread
    /// runs the task's loop, the task runs within this call until the task suspends.
    func makeTask(for work: TaskWork, in queued: QueuedTask? = nil) -> HandlerTask {
        work.peerWork?.addPart()
        if let queued {
            return QueuedTask.makeWaitingTask(queued) { queued in
                guard queued.begin(self) else {
                    work.peerWork?.endPart()
                    return
                }
                await self.perform(work, isolation: queued.handler.isolation)
            }
        }
        let shard = self.core.currentShard
        let actor: any LoopBound =
            switch work.code {
            case .handler(let handler): handler.isolation
            case .middlewares(let interception): interception.isolation(on: shard)
            }
        // The actor is on another thread if middlewares intercept the message and the calling thread runs no
        // loop of the bus. The task then changes to the actor's thread in `perform`.
        guard actor.eventLoop.isInEventLoop else {
            return Task.immediate { await self.perform(work, isolation: actor) }
        }
        // A handler that was called in place is possibly below this call on the stack. Until the new task
        // suspends, its messages must not inherit from that handler.
        let outer = shard?.exchangeHandledMessage(nil)
        defer { shard?.exchangeHandledMessage(outer) }
        return Self.startIsolatedTask(self, work, actor)
    }

    private typealias IsolatedStart = @Sendable (Exchange, TaskWork, isolated any Actor) -> HandlerTask
    private typealias PlainStart = @Sendable (Exchange, TaskWork, any Actor) -> HandlerTask

    /// Starts a task that is isolated to its actor from the beginning.
    ///
    /// A change of isolation costs a tenth of the time of a task, even on the same loop. The calling thread
    /// must run the actor's loop.
    private static let startIsolatedTask: PlainStart = {
        let start: IsolatedStart = { exchange, work, actor in
            var task: HandlerTask?
            for _ in 0..<once() {
                task = Task.immediate {
                    // The task is isolated to the actor because it captures the parameter.
                    _ = actor
                    await exchange.perform(work, isolation: actor)
                }
            }
            guard let task else {
                preconditionFailure("internal error: the task of a handler was not started")
            }
            return task
        }
        // The cast is safe: an isolated parameter has the same calling convention as any other parameter.
        return unsafe unsafeBitCast(start, to: PlainStart.self)
    }()

    /// Handles the message in the calling task, which is isolated to an actor, and then ends the exchange.
    private func perform(_ work: TaskWork, isolation: isolated any Actor) async {
        defer { work.peerWork?.endPart() }
        // The caller of an intercepted message may have been cancelled before the task began.
        if work.interception != nil, self.isOver {
            if work.endsTurn { work.handler?.mailbox.endTurn() }
            return
        }
        let outcome = await DeliveryContext.local.withValue(self.beginRunning().inherited) {
            // The closure is isolated to the actor because it captures the parameter.
            _ = isolation
            return switch work.code {
            case .handler(let handler): await handler.run(work.message)
            case .middlewares(let interception): await interception.outcome()
            }
        }
        self.endRunning()
        // A serial module handles its next message only after all attempts have ended, including the attempts
        // that a middleware has abandoned.
        let attempts = work.endsTurn ? work.interception?.unfinishedAttempts : nil
        // The turn ends before the message is settled, see `endTurn()`.
        if work.endsTurn, attempts == nil { work.handler?.mailbox.endTurn() }
        self.finish(outcome, by: work.handler)
        guard let attempts else { return }
        await attempts.waitForEnd()
        work.handler?.mailbox.endTurn()
    }
}
