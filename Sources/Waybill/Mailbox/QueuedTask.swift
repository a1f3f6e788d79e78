public import WaybillEventLoop
internal import WaybillRouting

/// A message that its caller awaits, as it waits in a mailbox, and the task that is going to handle it: the
/// caller's own if the handler cannot suspend, or the handler's.
///
/// It is an actor that is its own executor, and keeps the rest of that task until the message's turn comes.
@usableFromInline
actor QueuedTask: SerialExecutor, CancellationObserver {
    nonisolated let message: Message
    nonisolated let handler: Handler
    /// The exchange with the message's caller; nil if this is the caller's own task.
    nonisolated let exchange: Exchange?
    /// Whether it counts against the mailbox's limit.
    nonisolated let takesSlot: Bool
    private nonisolated let job: SuspendedJob
    /// How the message ended, if it has: written before the task is resumed, and by the task. One has handed
    /// the message to the other then, so that the access is exclusive.
    @exclusivity(unchecked)
    nonisolated(unsafe) private var outcome: Outcome?

    init(
        _ message: consuming Message,
        _ handler: Handler,
        for exchange: Exchange?,
        takesSlot: Bool,
        on eventLoop: EventLoop?
    ) {
        self.message = message
        self.handler = handler
        self.exchange = exchange
        self.takesSlot = takesSlot
        // The handler's mailbox holds the loop.
        self.job = unsafe SuspendedJob(onUnretained: eventLoop)
    }

    nonisolated var url: String { self.message.parameters.url }

    /// Whether the message ends without its handler; for the task, when it is resumed.
    nonisolated var isRefused: Bool { unsafe self.outcome != nil }

    /// Runs the task now, on the mailbox's loop; in a serial mailbox it is the message in progress.
    ///
    /// This and ``refuse(_:)`` are for a task that has been taken out of the queue, since that happens once.
    nonisolated func resume() { self.job.resume(.inPlace) }

    /// Resumes the task on another executor, without having it run.
    nonisolated func refuse(_ error: RoutingError) {
        unsafe self.outcome = .failed(error)
        self.job.resume(.elsewhere)
    }

    /// The caller is cancelled, and free if its message has not begun.
    @usableFromInline
    nonisolated func taskIsCancelled() { self.handler.mailbox.withdraw(self) }

    /// Suspends the calling task until its turn comes.
    @inline(never)  // or the change of executor, which is all that this is for, might be optimized away
    func wait() { self.job.checkResumption() }

    /// Suspends the calling task until its turn comes, and handles the message then.
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

    /// Takes the rest of the waiting task; the runtime calls this.
    @usableFromInline
    nonisolated func enqueue(_ job: consuming ExecutorJob) { self.job.enqueue(job) }

    @usableFromInline
    nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }
}
