internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension Handler {
    /// Calls a handler that cannot suspend: the only code that does.
    ///
    /// The calling thread runs the handler's loop, and no other message of its mailbox is before this one.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - call: Calls the code of the handler; a caller that knows the type of the value need not box it.
    /// - Returns: What `call` returned, or the failure.
    @inline(__always)
    func invoke(_ message: Message, _ call: (Handler, Message) throws -> (any Sendable)?) -> Outcome {
        guard let shard = self.shard else { return self.invokeElsewhere(message, call) }
        // What the handler sends inherits from its message; a frame is cheaper than a task-local value.
        let outer = shard.enter(LoopShard.Frame(of: message))
        defer { shard.leave(to: outer) }
        do {
            return .replied(try call(self, message))
        } catch {
            return .failed(self.failure(error, of: message))
        }
    }

    /// Calls a handler whose loop is not one of the bus's, where a message inherits from a task-local value.
    @inline(never)
    private func invokeElsewhere(
        _ message: Message,
        _ call: (Handler, Message) throws -> (any Sendable)?
    ) -> Outcome {
        DeliveryContext.with(.record(ContextRecord(message, inside: nil))) {
            do {
                return .replied(try call(self, message))
            } catch {
                return .failed(self.failure(error, of: message))
            }
        }
    }

    /// Calls the code of a handler that cannot suspend, for a caller that does not know the type of its value.
    @usableFromInline
    func callBoxed(_ message: Message) throws -> any Sendable {
        guard let code = self.immediate else {
            preconditionFailure("only a handler that cannot suspend is called in place")
        }
        return try code.callBoxed(message)
    }

    /// Runs a handler in the calling task, which is isolated to the handler's actor.
    func run(_ message: Message, isolation: isolated any Actor) async -> Outcome {
        guard case .suspending(let code) = self.code else {
            return self.invoke(message) { try $0.callBoxed($1) }
        }
        assert(
            code.isolation.eventLoop === self.mailbox.eventLoop,
            "`eventLoop` of \(type(of: code.isolation)) has changed since it was registered"
        )
        do {
            return .replied(try await code.run(message, isolation: isolation))
        } catch {
            return .failed(self.failure(error, of: message))
        }
    }

    /// The actor that the handler's task is isolated to.
    var isolation: any LoopBound {
        if case .suspending(let code) = self.code { code.isolation } else { self.mailbox }
    }

    /// Returns the error of a message whose handler threw.
    @inline(never)
    func failure(_ error: any Error, of message: Message) -> RoutingError {
        if let reason = self.reason(for: error, of: message) { return reason.at(self) }
        let own: RoutingError =
            self.isConnector ? .thrown(error, at: message.parameters.url) : .thrown(error, by: message)
        return own.at(self)
    }

    /// Returns what is behind an error that is neither the handler's own nor that of a middleware around it.
    ///
    /// After the deadline there is no other outcome. The deadline cancels a handler that is still running,
    /// and so does the end of its registration: these are the reason then, and not the cancellation.
    func reason(for error: any Error, of message: Message) -> RoutingError? {
        let url = message.parameters.url
        if message.hasDeadline, message.expiry.hasPassed(by: self.core.time) {
            return .deadlineExceeded(url: url)
        }
        return error is CancellationError && Task.isCancelled && self.isGone ? self.reason(url) : nil
    }
}

/// The task of a handler.
///
/// It may throw, though none does: the runtime runs a task that may throw and one that may not by the same
/// function, so the closure of the latter is wrapped in another one, which takes an allocation and a tenth of
/// what a handler takes that may suspend.
typealias HandlerTask = Task<Void, any Error>

/// Returns one: how often a loop starts a task with `Task.immediate`, so that the compiler inlines that.
///
/// Called as a function, `Task.immediate` (in Swift 6.3) tells the runtime of a preferred executor even if
/// there is none, and the runtime asks for it under a lock at each change of isolation, which takes a seventh
/// of a task. Into a loop the compiler does inline it, and then it passes on nothing. This function is not
/// inlined, since the compiler would see that there is no loop.
@inline(never)
private func once() -> Int { 1 }

/// What the task of an exchange does.
struct TaskWork: Sendable {
    let message: Message
    /// The way of the message through middlewares, if there are any; their task is not the handler's own.
    let interception: Interception?
    /// The handler; nil when there are only middlewares.
    let handler: Handler?
    /// Whether the end of the task is the end of the message's turn in the handler's mailbox.
    let endsTurn: Bool
}

extension Exchange {
    /// Starts the task that handles the message now, and has what frees its caller wait for the end.
    ///
    /// The caller is on the loop of the handler's mailbox, where the message has its turn, or the message meets
    /// middlewares first.
    ///
    /// - Parameters:
    ///   - work: What the task does.
    ///   - watcher: The loop whose timer watches the deadline.
    func start(_ work: TaskWork, on watcher: EventLoop?) {
        if let handler = work.handler, let error = handler.rejection(of: work.message) {
            if work.endsTurn { handler.mailbox.endTurn() }
            return self.finish(.failed(error))
        }
        if work.interception == nil {
            // Nothing can end the exchange but the handler before this returns, since its caller is here. What
            // frees the caller, and what frees others from it, is needed only if the handler has suspended then.
            let task = self.startTask(work, in: nil)
            if self.isOver { return }
            self.bind(task: task)
            self.wait(for: work, on: watcher)
        } else if self.wait(for: work, on: watcher) {
            self.bind(task: self.startTask(work, in: nil))
        }
    }

    /// Starts the task of one attempt to deliver a message, which the end of the exchange cancels.
    func startAttempt(_ work: TaskWork) -> HandlerTask {
        let task = self.startTask(work, in: nil)
        self.bind(task: task)
        return task
    }

    /// Has the handler's end and the deadline end the exchange.
    ///
    /// - Returns: false when the exchange has ended.
    @discardableResult
    private func wait(for work: TaskWork, on watcher: EventLoop?) -> Bool {
        if let handler = work.handler, !self.attach(to: handler), !self.core.isExempt(self) {
            // A task that has started ends the turn itself.
            if work.endsTurn, work.interception != nil { handler.mailbox.endTurn() }
            self.finish(.failed(handler.reason(self.url)))
            return false
        }
        if self.expiry.exists { self.expire(at: self.expiry, on: watcher) }
        return true
    }

    /// Starts the task of a handler, or has it wait in the mailbox.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - handler: The handler.
    ///   - place: Where the message is handled.
    ///   - watcher: The loop whose timer watches the deadline.
    func start(_ message: Message, at handler: Handler, place: Mailbox.Place, on watcher: EventLoop?) {
        let work = TaskWork(message: message, interception: nil, handler: handler, endsTurn: true)
        guard case .queue(let takesSlot) = place else { return self.start(work, on: watcher) }
        // The task inherits from the caller, so it is made here and waits with the message.
        let mailbox = handler.mailbox
        if let error = mailbox.rejection(of: self.id, to: self.url, inside: self.caller) {
            return self.finish(.failed(error))
        }
        let queued = QueuedTask(message, for: handler, exchange: self, takesSlot: takesSlot)
        guard self.attach(to: handler, queued) else { return self.finish(.failed(handler.reason(self.url))) }
        // First: a message that the loop finds in the queue must have its task, or the next would overtake it.
        self.bind(task: self.startTask(work, in: queued))
        // The deadline is watched when the handler begins, which may be before this thread continues.
        if self.expiry.exists { self.expire(at: self.expiry, on: watcher) }
        if let error = mailbox.enqueue(queued) {
            self.finish(.failed(error))
            queued.reject(error)
        }
    }

    /// Starts the task that handles the message: the only code that starts one.
    ///
    /// - Parameters:
    ///   - work: What the task does.
    ///   - queued: Where the task waits until the turn of its message comes; nil to run it now. A caller that is
    ///     on the loop of the task runs it within this call, up to where it suspends first.
    /// - Returns: The task.
    private func startTask(_ work: TaskWork, in queued: QueuedTask?) -> HandlerTask {
        if let queued {
            return queued.startTask { queued in
                guard queued.begin(self) else { return }
                await self.perform(work, isolation: queued.handler.isolation)
            }
        }
        let shard = self.core.currentShard
        let actor =
            work.interception?.isolation(on: shard) ?? work.handler?.isolation ?? self.core.homeMailbox
        guard actor.eventLoop.isInEventLoop else {
            return Task.immediate { await self.perform(work, isolation: actor) }
        }
        // Until the task suspends, what it sends is its own, and not that of a handler that was called in place
        // and is below it on the stack.
        let outer = shard?.enter(.noHandler)
        defer { if let outer { shard?.leave(to: outer) } }
        return Self.startIsolatedTask(self, work, actor)
    }

    private typealias IsolatedStart = @Sendable (Exchange, TaskWork, isolated any Actor) -> HandlerTask
    private typealias PlainStart = @Sendable (Exchange, TaskWork, any Actor) -> HandlerTask

    /// Starts a task that is isolated to its actor from its beginning.
    ///
    /// Each change of isolation takes a tenth of a task, even on the same loop. The calling thread runs the loop
    /// of the actor.
    private static let startIsolatedTask: PlainStart = {
        let start: IsolatedStart = { exchange, work, actor in
            var task: HandlerTask?
            for _ in 0..<once() {
                task = Task.immediate {
                    // Captured, the parameter isolates the task to the actor.
                    _ = actor
                    await exchange.perform(work, isolation: actor)
                }
            }
            guard let task else { preconditionFailure("the loop has one turn") }
            return task
        }
        // An isolated parameter is passed like any other.
        return unsafe unsafeBitCast(start, to: PlainStart.self)
    }()

    /// Handles the message in the calling task, which is isolated to an actor, and ends the exchange.
    private func perform(_ work: TaskWork, isolation: isolated any Actor) async {
        // The caller of an intercepted message may have given up before the task began.
        if work.interception != nil, self.isOver {
            if work.endsTurn { work.handler?.mailbox.endTurn() }
            return
        }
        let outcome = await DeliveryContext.local.withValue(self.context().inherited) {
            // Captured, the parameter isolates the closure to the actor.
            _ = isolation
            return await work.outcome(isolation: isolation)
        }
        await self.finish(outcome, of: work)
    }

    private nonisolated(nonsending) func finish(_ outcome: Outcome, of work: TaskWork) async {
        // The next message of a serial module waits for the attempts that middlewares have given up.
        let attempts = work.endsTurn ? work.interception?.unfinishedAttempts : nil
        if work.endsTurn, attempts == nil { work.handler?.mailbox.endTurn() }
        self.finish(outcome, of: work.message, by: work.handler)
        guard let attempts else { return }
        await attempts.end()
        work.handler?.mailbox.endTurn()
    }
}

extension TaskWork {
    fileprivate func outcome(isolation: isolated any Actor) async -> Outcome {
        if let interception { return await interception.outcome() }
        guard let handler else { preconditionFailure("a message without a handler meets middlewares") }
        return await handler.run(self.message, isolation: isolation)
    }
}
