internal import Synchronization
public import WaybillEventLoop
internal import WaybillRouting

/// A message that its caller awaits, as it waits in a mailbox, and the task that is going to handle it: the
/// caller's own if the handler cannot suspend, or the handler's.
///
/// It is an actor that is its own executor, and keeps the rest of that task until the message's turn comes.
@usableFromInline
actor QueuedTask: SerialExecutor, CancellationObserver {
    @usableFromInline nonisolated let message: Message
    @usableFromInline nonisolated let handler: Handler
    /// The exchange with the message's caller; nil if this is the caller's own task.
    nonisolated let exchange: Exchange?
    /// Whether it counts against the mailbox's limit.
    nonisolated let takesSlot: Bool
    /// Whether it is in the queue, or was; guarded by the queue's lock.
    @exclusivity(unchecked)
    nonisolated(unsafe) var hasEntered = false
    private nonisolated let job: SuspendedJob
    /// Whether the message gets into the queue when its task waits; for the thread of its caller.
    @exclusivity(unchecked)
    nonisolated(unsafe) private var entersQueue = false
    private nonisolated let hasBeenCancelled = Atomic<Bool>(false)
    /// How the message ended, if it has.
    ///
    /// It is written before the task is resumed, or by the task, and read by the task.
    @exclusivity(unchecked)
    nonisolated(unsafe) private var outcome: Outcome?

    init(
        _ message: consuming Message,
        _ handler: Handler,
        for exchange: Exchange?,
        takesSlot: Bool,
        on loop: borrowing HeldEventLoop
    ) {
        self.message = message
        self.handler = handler
        self.exchange = exchange
        self.takesSlot = takesSlot
        // The handler holds its mailbox, whose loop this is.
        self.job = unsafe SuspendedJob(onUnretained: loop)
    }

    nonisolated var url: String { self.message.parameters.url }

    /// Whether the message ends without its handler; for the task, when it is resumed.
    nonisolated var isRefused: Bool { unsafe self.outcome != nil }

    /// Whether the task has left the queue for good: its turn has come, or it is refused.
    nonisolated var isResumed: Bool { self.job.isResumed }

    /// Runs the task now, on the mailbox's loop; in a serial mailbox it is the message in progress.
    ///
    /// This and ``refuse(_:)`` are for a task that has been taken out of the queue, since that happens once.
    nonisolated func resume() { self.job.resume(.inPlace) }

    /// Resumes the task on another executor, without having it run.
    nonisolated func refuse(_ error: RoutingError) {
        unsafe self.outcome = .failed(error)
        self.job.resume(.elsewhere)
    }

    /// Takes the message out of the queue, if it is there; then it is refused.
    nonisolated func withdraw() { self.handler.mailbox.withdraw(self) }

    /// The caller is cancelled, and free if its message has not begun.
    ///
    /// The message may not be in the queue yet. Either its way into the queue finds the flag or this finds the
    /// message, since both take the queue's lock.
    @usableFromInline
    nonisolated func taskIsCancelled() {
        self.hasBeenCancelled.store(true, ordering: .relaxed)
        self.withdraw()
    }

    /// Whether the task that waits here was cancelled.
    nonisolated var isCancelled: Bool { self.hasBeenCancelled.load(ordering: .relaxed) }

    /// Suspends the calling task until its turn comes.
    @inline(never)  // or the change of executor, which is all that this is for, might be optimized away
    func wait() { self.job.checkResumption() }

    /// Handles the message or refuses it, if that can be done without waiting; if not, ``handle()`` takes it
    /// into the queue.
    nonisolated func handleAtOnce() -> Bool {
        // The task holds the handler, which holds the mailbox.
        let isHandled = unsafe Unretained(self.handler.mailbox).withUnsafeObject { $0.handleAtOnce(self) }
        unsafe self.entersQueue = !isHandled
        return isHandled
    }

    /// Suspends the calling task until its turn comes, and handles the message then; the handler cannot
    /// suspend.
    @inline(never)
    func handle() {
        self.job.checkResumption()
        if self.isRefused { return }
        // The task holds the handler, which holds the mailbox.
        unsafe Unretained(self.handler.mailbox).withUnsafeObject { mailbox in
            self.end(mailbox.runInPlace(self.message, self.handler))
            mailbox.endTurn()
        }
    }

    /// Notes how the message ended; for the task.
    nonisolated func end(_ outcome: consuming Outcome) { unsafe self.outcome = outcome }

    /// Takes how the message ended; for the task.
    nonisolated func takeOutcome() -> Outcome {
        guard let outcome = unsafe self.outcome.take() else {
            preconditionFailure("a message is handled once")
        }
        return outcome
    }

    /// Starts a task that waits here, and runs a handler that cannot suspend.
    nonisolated func startHandling() -> HandlerTask {
        Self.unisolated { queued in
            Task {
                guard let exchange = queued.begin() else { return }
                queued.handle()
                exchange.finish(queued.takeOutcome(), of: queued.message, by: queued.handler)
            }
        }(self)
    }

    /// Code that starts a task which is isolated to its argument, as code that any thread may call: the task
    /// is the argument's from its beginning, and so its first job waits there.
    @usableFromInline
    nonisolated static func unisolated(
        _ start: @escaping @Sendable (isolated QueuedTask) -> HandlerTask
    ) -> @Sendable (QueuedTask) -> HandlerTask {
        // An isolated parameter is passed like any other, and the code touches nothing that is isolated.
        unsafe unsafeBitCast(start, to: (@Sendable (QueuedTask) -> HandlerTask).self)
    }

    /// The handler's code, which is of a type that the code itself knows.
    @unsafe
    @usableFromInline
    nonisolated func code<Code: SuspendingCode>(as type: Code.Type) -> Code {
        guard let code = self.handler.code.suspending else {
            preconditionFailure("only code that may suspend asks for itself")
        }
        return unsafe unsafeDowncast(code, to: type)
    }

    /// Notes that the handler of an exchange is about to begin, in the task that has waited here.
    ///
    /// - Returns: the exchange; nil if the handler does not run.
    @usableFromInline
    nonisolated func begin() -> Exchange? {
        guard let exchange else { preconditionFailure("a task of its own has an exchange with the caller") }
        if self.isRefused {
            exchange.finish(self.takeOutcome())
            return nil
        }
        let error = self.handler.objection(to: self.message)
        guard exchange.begin(), error == nil else {
            self.handler.mailbox.endTurn()
            if let error { exchange.finish(.failed(error)) }
            return nil
        }
        return exchange
    }

    /// Takes the rest of the waiting task; the runtime calls this.
    @usableFromInline
    nonisolated func enqueue(_ job: consuming ExecutorJob) {
        guard unsafe self.entersQueue else { return self.job.enqueue(job) }
        unsafe self.entersQueue = false
        self.job.enqueue(job)
        // With its job, or the loop would find the message before the job and the next message would overtake
        // it. The task holds the handler, which holds the mailbox, until the message is in the queue.
        unsafe Unretained(self.handler.mailbox).withUnsafeObject { $0.enter(self) }
    }

    @usableFromInline
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }
}
