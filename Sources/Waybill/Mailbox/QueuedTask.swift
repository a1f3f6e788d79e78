internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// An awaited message in a mailbox, and the task that waits for the message's turn: the caller's task or the
/// handler's task.
///
/// The type is an actor that is its own executor. When the waiting task suspends, the runtime passes the
/// task's job to this executor, which keeps the job until it is the message's turn.
@usableFromInline
actor QueuedTask: SerialExecutor {
    nonisolated let message: Message
    nonisolated let handler: Handler
    /// The exchange with the message's caller; nil when the caller's own task waits.
    nonisolated let exchange: Exchange?
    /// Whether the message counts against the mailbox's limit.
    nonisolated let takesSlot: Bool
    private nonisolated let job: SuspendedJob
    private nonisolated let state: Locked<State>
    private nonisolated let hasBeenCancelled = Atomic<Bool>(false)
    /// Whether the message is or was in the queue; written under the lock of the queue.
    nonisolated let hasEntered = Atomic<Bool>(false)

    private struct State: ~Copyable {
        /// The obligation to settle the message; nil when an exchange or a middleware has the obligation.
        var ticket: MessageTicket?
        /// Whether the message is enqueued when the waiting task suspends.
        var entersQueue = false
        var outcome: Outcome?
    }

    init(
        _ message: consuming Message,
        for handler: Handler,
        ticket: consuming MessageTicket? = nil,
        exchange: Exchange? = nil,
        takesSlot: Bool
    ) {
        self.message = message
        self.handler = handler
        self.exchange = exchange
        self.takesSlot = takesSlot
        self.job = SuspendedJob(on: handler.mailbox.eventLoop)
        self.state = Locked(State(ticket: ticket))
    }

    nonisolated var url: String { self.message.parameters.url }

    nonisolated func takeTicket() -> MessageTicket? { self.state.withLock { $0.ticket.take() } }

    /// Whether the message has its outcome, which is a rejection while the task waits.
    nonisolated var hasOutcome: Bool { self.state.withLock { $0.outcome != nil } }

    /// Whether the waiting task was resumed, because it is the message's turn or because the message was
    /// rejected.
    nonisolated var isResumed: Bool { self.job.isResumed }

    nonisolated var isCancelled: Bool { self.hasBeenCancelled.load(ordering: .relaxed) }

    /// Resumes the waiting task now, on the mailbox's loop, because it is the message's turn.
    ///
    /// Call either this method or ``reject(_:)``, once, after the message has been removed from the queue.
    nonisolated func resume() { self.job.resume(.inPlace) }

    /// Stores a failure as the outcome, and resumes the waiting task on another executor.
    nonisolated func reject(_ error: RoutingError) {
        self.state.withLock { $0.outcome = .failed(error) }
        self.job.resume(.elsewhere)
    }

    /// Removes the message from the queue and rejects it, unless its handler has begun.
    ///
    /// The message is possibly not in the queue yet. ``Mailbox/addToQueue(_:)`` then finds the flag.
    nonisolated func cancel() {
        self.hasBeenCancelled.store(true, ordering: .relaxed)
        self.handler.mailbox.remove(self)
    }

    /// Suspends the calling task until it is the message's turn.
    ///
    /// The call itself suspends the task, because it changes to the executor of this actor. The body runs
    /// after the resumption.
    @inline(never)  // The call changes the executor. If it were inlined, the change could be optimized away.
    func wait() { self.job.assertIsResumed() }

    /// Suspends the calling task like ``wait()``, and then calls a handler that cannot suspend.
    @inline(never)
    func handleInTurn() {
        self.job.assertIsResumed()
        if self.hasOutcome { return }
        let outcome = self.handler.handle(self.message)
        self.state.withLock { $0.outcome = outcome }
        // `Mailbox.drain` has begun the turn.
        self.handler.mailbox.endTurn()
    }

    nonisolated func takeOutcome() -> Outcome {
        guard let outcome = self.state.withLock({ $0.outcome.take() }) else {
            preconditionFailure(
                "internal error: the outcome of a message was taken twice or before it existed"
            )
        }
        return outcome
    }

    typealias Body = @Sendable (isolated QueuedTask) async -> Void

    /// Starts a task that is isolated to a `QueuedTask` from the beginning, so that its first job waits in
    /// the queue.
    static let makeWaitingTask: @Sendable (QueuedTask, @escaping Body) -> HandlerTask = {
        let start: @Sendable (isolated QueuedTask, @escaping Body) -> HandlerTask = { queued, body in
            Task { await body(queued) }
        }
        // The cast is safe: an isolated parameter is passed like any other parameter, and the function uses
        // no isolated state.
        return unsafe unsafeBitCast(start, to: (@Sendable (QueuedTask, @escaping Body) -> HandlerTask).self)
    }()

    /// Returns whether the handler of an exchange can begin, in the task that has waited for its turn.
    nonisolated func begin(_ exchange: Exchange) -> Bool {
        if self.hasOutcome {
            exchange.finish(self.takeOutcome())
            return false
        }
        let error = self.handler.rejection(of: self.message)
        guard exchange.begin(), error == nil else {
            self.handler.mailbox.endTurn()
            if let error { exchange.finish(.failed(error)) }
            return false
        }
        return true
    }

    /// Stores the job of the waiting task, which the runtime passes to this method when the task suspends.
    @usableFromInline
    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        // The runtime also passes the job of a task that leaves and enters this actor again. That job must
        // not enqueue the message a second time.
        let entersQueue = self.state.withLock { state in
            defer { state.entersQueue = false }
            return state.entersQueue
        }
        let mailbox = self.handler.mailbox
        self.job.enqueue(job)
        // Store the job before the message is enqueued. Otherwise the loop could find the message before the
        // job, and the next message would overtake this message.
        if entersQueue, let error = mailbox.addToQueue(self) { self.reject(error) }
    }

    @usableFromInline
    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe UnownedSerialExecutor(ordinary: self) }
}

extension QueuedTask {
    /// Handles the message in the calling task, immediately or when it is the message's turn in the mailbox.
    ///
    /// The wait ends early when the caller is cancelled or the handler is unregistered.
    nonisolated(nonsending) func run() async -> Outcome {
        if let outcome = self.outcomeWithoutWaiting() { return outcome }
        // `handleInTurn` is isolated to this actor, which is its own executor. The runtime therefore suspends
        // the task and passes its job to `enqueue(_:)`, which puts the message into the mailbox's queue.
        self.state.withLock { $0.entersQueue = true }
        await Self.waitAndHandle(self, isolation: #isolation)
        return self.takeOutcome()
    }

    /// Handles or rejects the message, or returns nil when the message must wait.
    private nonisolated func outcomeWithoutWaiting() -> Outcome? {
        let mailbox = self.handler.mailbox
        // On the handler's loop, the queue may be empty since `place`, which middlewares do not call.
        guard mailbox.isClear else {
            return mailbox.waitError(of: self.message.id, to: self.url, inside: DeliveryContext.waiting)
                .map { .failed($0) }
        }
        if let error = self.handler.rejection(of: self.message) { return .failed(error) }
        // The caller may have been cancelled before this call.
        if Task.isCancelled { return .failed(.cancelled(url: self.url)) }
        return self.handler.invoke(self.message) { try $0.callBoxed($1) }
    }

    /// Handles the message in its turn, and returns on the executor of the caller.
    private static func waitAndHandle(_ task: QueuedTask, isolation: isolated (any Actor)?) async {
        await withTaskCancellationHandler(
            operation: {
                // The closure is isolated to the caller because it captures the parameter.
                _ = isolation
                await task.handleInTurn()
            },
            onCancel: { task.cancel() }
        )
    }
}
