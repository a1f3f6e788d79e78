internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension Handler {
    /// Calls a handler that cannot suspend.
    ///
    /// Every call of a handler that cannot suspend goes through this function.
    ///
    /// The calling thread must run the handler's loop, and no other message of the mailbox may precede this
    /// message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - call: Calls the code of the handler. If the code that passes `call` knows the type of the value,
    ///     `call` can store the value unboxed.
    /// - Returns: The value of `call`, or the failure.
    @inline(__always)
    func invoke(_ message: Message, _ call: (Handler, Message) throws -> (any Sendable)?) -> Outcome {
        guard let shard = self.shard else { return self.invokeElsewhere(message, call) }
        // Messages that the handler sends inherit from the message that it handles. A frame is cheaper than a
        // task-local value.
        let outer = shard.enter(LoopShard.Frame(of: message))
        defer { shard.setFrame(outer) }
        do {
            return .replied(try call(self, message))
        } catch {
            return .failed(self.failure(error, of: message))
        }
    }

    /// Calls a handler on a loop that does not belong to the bus, with a task-local value instead of a frame.
    @inline(never)
    private func invokeElsewhere(
        _ message: Message,
        _ call: (Handler, Message) throws -> (any Sendable)?
    ) -> Outcome {
        DeliveryContext.run(in: .record(ContextRecord(message, inside: nil))) {
            do {
                return .replied(try call(self, message))
            } catch {
                return .failed(self.failure(error, of: message))
            }
        }
    }

    /// Calls the code of a handler that cannot suspend, and stores a value of the expected type unboxed.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - value: Receives the value, if the handler's code has the type `ImmediateBody<Value>`.
    /// - Returns: The value in a box, if the code has another type or a return URL also receives the value;
    ///   otherwise nil.
    /// - Throws: The error of the handler.
    @inlinable
    @inline(__always)
    func call<Value: Sendable>(_ message: Message, storing value: inout Value?) throws -> (any Sendable)? {
        guard Value.self != Reply.self, let code = self.immediate, type(of: code) == ImmediateBody<Value>.self
        else { return try self.callBoxed(message) }
        // The condition above has compared the types. A checked cast would also retain the object, which
        // costs time.
        let answer = try unsafe unsafeDowncast(code, to: ImmediateBody<Value>.self).call(message)
        value = answer
        return message.hasReturnURL ? answer : nil
    }

    /// Calls the code of a handler that cannot suspend, and returns the value in a box.
    @usableFromInline
    func callBoxed(_ message: Message) throws -> any Sendable {
        guard let code = self.immediate else {
            preconditionFailure("internal error: a handler that may suspend was called in place")
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

    /// Handles a message in the calling task, immediately or when its turn comes.
    ///
    /// The caller of this method must settle the message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - hasWaited: Whether it is already the message's turn in the mailbox.
    /// - Returns: The outcome of the handler.
    nonisolated(nonsending) func runInTurn(_ message: Message, hasWaited: Bool = false) async -> Outcome {
        if self.isImmediate, !hasWaited {
            return await QueuedTask(message, for: self, takesSlot: self.mailbox.takesSlot).run()
        }
        return await self.mailbox.runInTurn(message, by: self, hasWaited: hasWaited)
    }

    /// The actor of the handler's task.
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

    /// Returns the bus's own reason for an error, or nil when the handler or a middleware caused the error.
    ///
    /// After the deadline, the reason is always `deadlineExceeded`. When the handler is unregistered, the bus
    /// cancels the running handler, which then often throws a `CancellationError`. The reason is then the end
    /// of the registration and not the cancellation.
    func reason(for error: any Error, of message: Message) -> RoutingError? {
        let url = message.parameters.url
        if message.hasDeadline, message.expiry.hasPassed(by: self.core.time) {
            return .deadlineExceeded(url: url)
        }
        return error is CancellationError && Task.isCancelled && self.isGone ? self.reason(url) : nil
    }
}

/// The code of a handler that cannot suspend, and the type of the value that the code returns.
///
/// A caller that expects this type calls the body directly, so that the value is neither boxed nor cast.
@usableFromInline
final class ImmediateBody<Value: Sendable>: ImmediateCode {
    @usableFromInline let body: @Sendable (Message) throws -> Value

    @inlinable
    init(_ body: @escaping @Sendable (Message) throws -> Value) { self.body = body }

    @inlinable
    @inline(never)  // If this method were inlined, the closure would be retained for the call.
    func call(_ message: Message) throws -> Value { try self.body(message) }

    @usableFromInline var replyType: (any Any.Type)? { Value.self }

    @usableFromInline
    func callBoxed(_ message: Message) throws -> any Sendable { try self.body(message) }
}

/// The task of a handler.
///
/// The task's type can throw, although no handler's task throws. The runtime has a single function that
/// starts tasks, and this function expects a closure that can throw. A closure that cannot throw is wrapped
/// in another closure, which costs an allocation and a tenth of the time of a suspending handler.
typealias HandlerTask = Task<Void, any Error>

/// Returns 1, the number of iterations of the loop in which `Task.immediate` is called.
///
/// Outside of a loop, Swift 6.3 calls `Task.immediate` as a function, which registers an executor preference
/// even when there is none. At each change of isolation, the runtime then looks up this preference under a
/// lock, which costs a seventh of the time of a task. Inside of a loop, the compiler inlines the call and
/// omits the preference. The compiler would remove the loop if it inlined this function.
@inline(never)
private func once() -> Int { 1 }

/// The work of the task that an exchange starts.
struct TaskWork: Sendable {
    let message: Message
    /// The delivery through middlewares; nil when the message is not intercepted.
    let interception: Interception?
    /// The handler; nil when the intercepted message has no handler.
    let handler: Handler?
    /// Whether the task ends the message's turn in the mailbox.
    let endsTurn: Bool
}

extension Exchange {
    /// Starts the task that handles the message now, and registers the events that can end the exchange
    /// early.
    ///
    /// The calling thread must run the loop of the handler's mailbox, and it must be the message's turn. For
    /// an intercepted message, neither is necessary.
    ///
    /// - Parameters:
    ///   - work: The work of the task.
    ///   - watcher: The loop whose timer watches the deadline.
    func start(_ work: TaskWork, on watcher: EventLoop?) {
        if let handler = work.handler, let error = handler.rejection(of: work.message) {
            if work.endsTurn { handler.mailbox.endTurn() }
            return self.finish(.failed(error))
        }
        if work.interception == nil {
            // Before `startTask` returns, only the handler can end the exchange, because the caller has not
            // received the exchange yet. The deadline and the registration with the handler are needed only
            // if the handler has suspended.
            let task = self.startTask(work, in: nil)
            if self.isOver { return }
            self.bind(task: task)
            self.watchForEarlyEnd(of: work, on: watcher)
        } else if self.watchForEarlyEnd(of: work, on: watcher) {
            self.bind(task: self.startTask(work, in: nil))
        }
    }

    /// Starts the task of one delivery attempt.
    ///
    /// The end of the exchange cancels the task, unless the outcome is a reply.
    func startAttempt(_ work: TaskWork) -> HandlerTask {
        let task = self.startTask(work, in: nil)
        self.bind(task: task)
        return task
    }

    /// Registers the exchange with the handler, and starts the timer of the deadline.
    ///
    /// - Returns: false when the exchange has ended.
    @discardableResult
    private func watchForEarlyEnd(of work: TaskWork, on watcher: EventLoop?) -> Bool {
        if let handler = work.handler, !self.attach(to: handler), !self.core.isExempt(self) {
            // If the task of a message has started, the task ends the turn itself.
            if work.endsTurn, work.interception != nil { handler.mailbox.endTurn() }
            self.finish(.failed(handler.reason(self.url)))
            return false
        }
        if self.expiry.exists { self.expire(at: self.expiry, on: watcher) }
        return true
    }

    /// Starts the task of a message at once, or enqueues the message and its task in the mailbox.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - handler: The handler.
    ///   - place: The decision of ``Mailbox/place(_:isImmediate:)``.
    ///   - watcher: The loop whose timer watches the deadline.
    func start(_ message: Message, at handler: Handler, place: Mailbox.Place, on watcher: EventLoop?) {
        let work = TaskWork(message: message, interception: nil, handler: handler, endsTurn: true)
        guard case .queue(let takesSlot) = place else { return self.start(work, on: watcher) }
        // The task inherits the task-local values of the caller. The task is therefore created here, and
        // waits in the queue with the message.
        let mailbox = handler.mailbox
        if let error = mailbox.rejection(of: self.id, to: self.url, inside: self.caller) {
            return self.finish(.failed(error))
        }
        let queued = QueuedTask(message, for: handler, exchange: self, takesSlot: takesSlot)
        guard self.attach(to: handler, queued) else { return self.finish(.failed(handler.reason(self.url))) }
        // Create the task before the message is enqueued. Otherwise the next message would overtake this
        // message.
        self.bind(task: self.startTask(work, in: queued))
        // Start the timer before `enqueue`, because the handler may begin before `enqueue` returns.
        if self.expiry.exists { self.expire(at: self.expiry, on: watcher) }
        if let error = mailbox.enqueue(queued) {
            self.finish(.failed(error))
            queued.reject(error)
        }
    }

    /// Starts the task that handles the message.
    ///
    /// No other function starts a handler's task.
    ///
    /// - Parameters:
    ///   - work: The work of the task.
    ///   - queued: The message in the mailbox, in which the task waits for its turn; nil to run the task now.
    ///     If the calling thread runs the task's loop, the task runs within this call until the task
    ///     suspends.
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
        // The frame belongs to a handler that was called in place and is below this call on the stack. Until
        // the new task suspends, its messages must not inherit from that handler.
        let outer = shard?.enter(.noHandler)
        defer { if let outer { shard?.setFrame(outer) } }
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
        // The caller of an intercepted message may have been cancelled before the task began.
        if work.interception != nil, self.isOver {
            if work.endsTurn { work.handler?.mailbox.endTurn() }
            return
        }
        let outcome = await DeliveryContext.local.withValue(self.beginRunning().inherited) {
            // The closure is isolated to the actor because it captures the parameter.
            _ = isolation
            return await work.outcome(isolation: isolation)
        }
        await self.finish(outcome, of: work)
    }

    private nonisolated(nonsending) func finish(_ outcome: Outcome, of work: TaskWork) async {
        // A serial module handles its next message only after all attempts have ended, including the attempts
        // that a middleware has abandoned.
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
        guard let handler else {
            preconditionFailure("internal error: a message without a handler has no middlewares either")
        }
        return await handler.run(self.message, isolation: isolation)
    }
}
