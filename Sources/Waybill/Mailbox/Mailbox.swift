internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The bounded queue in front of a module, and the loop on which the module's handlers are called.
///
/// A message may run immediately if its sender is on the loop and no other message waits. All other messages
/// wait in one queue in the order of arrival: messages that no caller awaits, and the tasks of messages that
/// their callers await. Any thread may enqueue messages; only the loop dequeues them.
actor Mailbox: LoopBound {
    nonisolated let eventLoop: EventLoop
    nonisolated let heldLoop: HeldEventLoop

    nonisolated let limit: Int
    nonisolated let whenFull: MailboxConfiguration.Overflow
    nonisolated let isSerial: Bool

    /// The identifier of the actor behind the mailbox, or nil for the mailbox of closures.
    nonisolated let owner: ObjectIdentifier?
    private nonisolated let ownerType: (any LoopBound.Type)?

    /// The name of the actor's type.
    nonisolated var module: String? { self.ownerType.map { "\($0)" } }

    nonisolated let queue: Locked<MailboxQueue>

    /// The number of messages that wait or are in progress, after the latest change of the queue.
    private nonisolated let occupancy = Atomic<Int>(0)

    /// The executor that runs handlers without an actor, which are closures, on the loop.
    ///
    /// A closure with a capture list is `@concurrent`, whatever type its parameter has (Swift 6.3). Without
    /// an executor preference it would run on the global executor.
    nonisolated let taskExecutor: EventLoopTaskExecutor?

    /// The greatest limit.
    ///
    /// A greater configured limit would have no effect in practice.
    private static let largestLimit = 1 << 31

    init(
        eventLoop: EventLoop,
        configuration: MailboxConfiguration,
        limit: Int,
        owner: (any LoopBound)? = nil
    ) {
        self.eventLoop = eventLoop
        self.heldLoop = HeldEventLoop(eventLoop)
        let limit = min(configuration.limit ?? limit, Self.largestLimit)
        // With a limit of 0, a mailbox that is not serial would reject all messages from other threads.
        self.limit = max(limit, configuration.isSerial ? 0 : 1)
        self.whenFull = configuration.whenFull
        self.isSerial = configuration.isSerial
        self.queue = Locked(
            MailboxQueue(limit: self.limit, whenFull: self.whenFull, isSerial: self.isSerial)
        )
        self.owner = owner.map { ObjectIdentifier($0) }
        self.ownerType = owner.map { type(of: $0) }
        self.taskExecutor = owner == nil ? eventLoop.taskExecutor : nil
    }

    /// Whether a message that arrives on the loop must wait.
    ///
    /// Only the loop's thread may read this property.
    @inline(__always)
    nonisolated var isOccupied: Bool { self.occupancy.load(ordering: .relaxed) > 0 }

    /// The number of messages that wait or are in progress.
    nonisolated var waiting: Int { self.occupancy.load(ordering: .relaxed) }

    /// Changes the queue under its lock.
    @inline(__always)
    nonisolated func withQueue<Result: ~Copyable & Sendable>(
        _ body: (inout MailboxQueue) -> Result
    ) -> Result {
        self.queue.withLock { queue in
            let result = body(&queue)
            self.occupancy.store(queue.occupancy, ordering: .relaxed)
            return result
        }
    }

    /// Performs the effect of a change of the queue.
    ///
    /// - Returns: Whether the queue has accepted the message.
    @inline(__always)
    nonisolated func act(on effect: consuming MailboxQueue.Effect) -> Bool {
        switch consume effect {
        case .none: return true
        case .drain:
            self.drainLater()
            return true
        case .full: return false
        case .dropped(let oldest, let isDue):
            oldest.fail { .dropped(url: $0, limit: self.limit) }
            if isDue { self.drainLater() }
            return true
        }
    }

    @inline(never)
    nonisolated func drainLater() {
        self.eventLoop.execute { self.assumeOnLoop { $0.drain() } }
    }
}

// Messages that their callers await.
extension Mailbox {
    /// Whether a message may be handled immediately: the calling thread runs the loop, and no other message
    /// is waiting or in progress.
    @inline(__always)
    nonisolated var isClear: Bool { self.heldLoop.isInEventLoop && !self.isOccupied }

    /// Runs a handler that may suspend in the calling task, in which the message has passed through
    /// middlewares.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - handler: The handler.
    ///   - hasWaited: Whether the turn of the message has come already.
    /// - Returns: How the handler ended.
    func runInTurn(_ message: Message, by handler: Handler, hasWaited: Bool) async -> Outcome {
        if !hasWaited, let error = await self.waitForTurn(message, handler).failure {
            return .failed(error)
        }
        defer { if !hasWaited { self.endTurn() } }
        if let error = handler.rejection(of: message) { return .failed(error) }
        // The caller may have been cancelled while the message waited.
        if Task.isCancelled { return .failed(.cancelled(url: message.parameters.url)) }
        let context = DeliveryContext.record(ContextRecord(message, inside: DeliveryContext.waiting))
        return await DeliveryContext.local.withValue(context.inherited) {
            // The closure is isolated to the actor only if it mentions the actor.
            _ = self
            return await handler.run(message, isolation: self)
        }
    }

    /// Waits in the calling task until it is the message's turn.
    ///
    /// - Returns: The failure of a message that is rejected, or `.replied`.
    private func waitForTurn(_ message: Message, _ handler: Handler) async -> Outcome {
        guard case .queue(let takesSlot) = self.place(message.id, isImmediate: false) else {
            return .replied(())
        }
        let url = message.parameters.url
        if let error = self.rejection(of: message.id, to: url, inside: DeliveryContext.waiting) {
            return .failed(error)
        }
        let task = QueuedTask(message, for: handler, takesSlot: takesSlot)
        if let error = self.enqueue(task) { return .failed(error) }
        await withTaskCancellationHandler(
            operation: {
                // The closure is isolated to the actor only if it mentions the actor.
                _ = self
                await task.wait()
            },
            onCancel: { task.cancel() }
        )
        return task.isRejected ? task.takeOutcome() : .replied(())
    }

    /// Runs a closure that may suspend.
    func run(
        _ message: Message,
        _ body: @Sendable (Message) async throws -> any Sendable
    ) async throws -> any Sendable {
        guard let executor = self.taskExecutor else { return try await body(message) }
        return try await withTaskExecutorPreference(executor, isolation: self) {
            // The closure is isolated to the actor only if it mentions the actor.
            _ = self
            return try await body(message)
        }
    }

    /// Enqueues a task.
    ///
    /// - Returns: The reason why the queue rejects the task, or nil.
    nonisolated func enqueue(_ task: QueuedTask) -> RoutingError? {
        let effect = self.withQueue { queue in
            // Checked under the lock: a handler that is unregistered, and a caller that is cancelled, either
            // remove the message from the queue afterwards or are found here.
            task.handler.isGone || task.isCancelled ? .full : queue.append(task)
        }
        if self.act(on: effect) { return nil }
        if task.handler.isGone { return task.handler.reason(task.url) }
        return task.isCancelled
            ? .cancelled(url: task.url) : .mailboxFull(url: task.url, limit: self.limit)
    }

    /// Rejects a message that has not begun, which resumes its task.
    nonisolated func remove(_ task: QueuedTask) {
        guard self.withQueue({ $0.remove(task) }) else { return }
        task.reject(.cancelled(url: task.url))
        self.grantSlots()
    }

    /// Ends the message in progress of a serial mailbox.
    ///
    /// This method is called before the outcome is known, so that messages that are sent then, for example a
    /// return leg, find the slot free.
    nonisolated func endTurn() {
        guard self.isSerial else { return }
        _ = self.act(on: self.withQueue { $0.end() })
        self.grantSlots()
    }
}
