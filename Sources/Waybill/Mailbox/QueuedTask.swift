internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// An awaited message in a mailbox, and the task that will handle it, which is the caller's or the handler's.
///
/// It is an actor that is its own executor. It holds the suspended task's job until the message's turn comes.
@usableFromInline
actor QueuedTask: SerialExecutor {
    nonisolated let message: Message
    nonisolated let handler: Handler
    /// The exchange with the message's caller, or nil when the caller's own task waits here.
    nonisolated let exchange: Exchange?
    /// Whether the message counts against the mailbox's limit.
    nonisolated let takesSlot: Bool
    private nonisolated let job: SuspendedJob
    private nonisolated let state: Locked<State>
    private nonisolated let hasBeenCancelled = Atomic<Bool>(false)
    /// Whether the message is or was in the queue.
    ///
    /// It is written under the lock of the queue.
    nonisolated let hasEntered = Atomic<Bool>(false)

    private struct State: ~Copyable {
        /// The obligation to end the message, or nil when an exchange or a middleware has it.
        var ticket: MessageTicket?
        /// Whether the message is enqueued when its task suspends.
        var entersQueue = false
        /// The outcome of the message, or nil while it has none.
        var outcome: Outcome?
    }

    /// Creates the queue entry of a message for the mailbox of its handler.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - handler: The handler of the message.
    ///   - ticket: The obligation to end the message; nil if other code ends it.
    ///   - exchange: The exchange with the message's caller; nil if the caller's own task waits.
    ///   - takesSlot: Whether the message counts against the mailbox's limit.
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

    /// Takes the obligation to end the message.
    nonisolated func takeTicket() -> MessageTicket? { self.state.withLock { $0.ticket.take() } }

    /// Whether the message ends without its handler.
    nonisolated var isRejected: Bool { self.state.withLock { $0.outcome != nil } }

    /// Whether the task has left the queue for good, because its turn has come or the message was rejected.
    nonisolated var isResumed: Bool { self.job.isResumed }

    /// Whether the task that waits here was cancelled.
    nonisolated var isCancelled: Bool { self.hasBeenCancelled.load(ordering: .relaxed) }

    /// Runs the task now, on the mailbox's loop.
    ///
    /// In a serial mailbox its message is then in progress.
    ///
    /// This method and ``reject(_:)`` are for a task that has been removed from the queue, which happens
    /// once.
    nonisolated func resume() { self.job.resume(.inPlace) }

    /// Resumes the task on another executor, with a failure instead of its turn.
    nonisolated func reject(_ error: RoutingError) {
        self.state.withLock { $0.outcome = .failed(error) }
        self.job.resume(.elsewhere)
    }

    /// Removes the message from the queue and rejects it.
    ///
    /// Does nothing when the message is not in the queue.
    nonisolated func leaveQueue() { self.handler.mailbox.remove(self) }

    /// Resumes the cancelled caller if its message has not begun.
    ///
    /// The message may not be in the queue yet. Both the code that enqueues it and this method take the
    /// queue's lock. Either the former finds the flag, or this method finds the message.
    nonisolated func cancel() {
        self.hasBeenCancelled.store(true, ordering: .relaxed)
        self.leaveQueue()
    }

    /// Makes the next ``enqueue(_:)`` of the suspended task's job also put the message into the mailbox.
    nonisolated func enterQueueWithJob() { self.state.withLock { $0.entersQueue = true } }

    /// Suspends the calling task until its turn comes.
    @inline(never)  // or the change of executor, which is all that this is for, might be optimized away
    func wait() { self.job.checkResumption() }

    /// Suspends the calling task until its turn comes, and then calls the handler, which cannot suspend.
    @inline(never)
    func handleInTurn() {
        self.job.checkResumption()
        if self.isRejected { return }
        let outcome =
            self.handler.rejection(of: self.message).map { .failed($0) }
            ?? self.handler.invoke(self.message) { try $0.callBoxed($1) }
        self.state.withLock { $0.outcome = outcome }
        self.handler.mailbox.endTurn()
    }

    /// Takes the outcome of the message.
    nonisolated func takeOutcome() -> Outcome {
        guard let outcome = self.state.withLock({ $0.outcome.take() }) else {
            preconditionFailure(
                "internal error: the outcome of a message was taken twice or before it existed"
            )
        }
        return outcome
    }

    /// Starts a task that waits here, and runs a closure when its turn comes.
    nonisolated func startTask(
        _ body: @escaping @Sendable (isolated QueuedTask) async -> Void
    ) -> HandlerTask {
        Self.startTask(self, body)
    }

    private typealias Body = @Sendable (isolated QueuedTask) async -> Void

    /// Starts a task that is isolated to a `QueuedTask` from its beginning, so that its first job waits in
    /// the queue.
    private static let startTask: @Sendable (QueuedTask, @escaping Body) -> HandlerTask = {
        let start: @Sendable (isolated QueuedTask, @escaping Body) -> HandlerTask = { queued, body in
            Task { await body(queued) }
        }
        // An isolated parameter is passed like any other, and the function uses no isolated state.
        return unsafe unsafeBitCast(start, to: (@Sendable (QueuedTask, @escaping Body) -> HandlerTask).self)
    }()

    /// Returns whether the handler of an exchange may begin.
    ///
    /// It is called by the task that has waited here.
    ///
    /// - Returns: false when the exchange has ended.
    nonisolated func begin(_ exchange: Exchange) -> Bool {
        if self.isRejected {
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

    /// Takes the job of the waiting task.
    ///
    /// The runtime calls this method.
    @usableFromInline
    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        let entersQueue = self.state.withLock { state in
            defer { state.entersQueue = false }
            return state.entersQueue
        }
        let mailbox = self.handler.mailbox
        self.job.enqueue(job)
        // Enqueue the message after its job. Otherwise the loop could find the message before the job, and
        // the next message would overtake it.
        if entersQueue, let error = mailbox.enqueue(self) { self.reject(error) }
    }

    @usableFromInline
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }
}

extension QueuedTask {
    /// Handles the message in the calling task, immediately or when its turn comes in the mailbox.
    ///
    /// Cancellation of the caller, and the end of the handler's registration, end the wait.
    nonisolated(nonsending) func run() async -> Outcome {
        if let outcome = self.handleInPlace() { return outcome }
        // `handleInTurn` is isolated to this actor, which is its own executor. The runtime therefore suspends
        // the task and passes its job to `enqueue(_:)`, which puts the message into the mailbox's queue.
        self.enterQueueWithJob()
        await Self.handleInTurn(self, isolation: #isolation)
        return self.takeOutcome()
    }

    /// Handles or rejects the message, or returns nil when the message must wait.
    private nonisolated func handleInPlace() -> Outcome? {
        let mailbox = self.handler.mailbox
        guard mailbox.isClear else {
            return mailbox.rejection(of: self.message.id, to: self.url, inside: DeliveryContext.waiting)
                .map { .failed($0) }
        }
        if let error = self.handler.rejection(of: self.message) { return .failed(error) }
        // The caller may have been cancelled in the meantime.
        if Task.isCancelled { return .failed(.cancelled(url: self.url)) }
        return self.handler.invoke(self.message) { try $0.callBoxed($1) }
    }

    private static func handleInTurn(_ task: QueuedTask, isolation: isolated (any Actor)?) async {
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
