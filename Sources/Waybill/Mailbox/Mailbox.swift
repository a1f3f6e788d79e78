internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The bounded queue in front of a module, and the loop that its handlers are called on.
///
/// A message may run at once if its sender is on the loop and nothing waits. Everything else waits in one
/// queue, in the order in which it comes: messages that no caller awaits, and the tasks of those that their
/// callers await. Senders are on any thread; the loop drains.
actor Mailbox: LoopBound {
    nonisolated let eventLoop: EventLoop
    nonisolated let heldLoop: HeldEventLoop

    nonisolated let limit: Int
    nonisolated let whenFull: MailboxConfiguration.Overflow
    nonisolated let isSerial: Bool

    /// The actor that the mailbox is in front of, if it is in front of one.
    nonisolated let owner: ObjectIdentifier?
    private nonisolated let ownerType: (any LoopBound.Type)?

    /// The name of that actor's type.
    nonisolated var module: String? { self.ownerType.map { "\($0)" } }

    nonisolated let queue: Locked<MailboxQueue>

    /// How many messages wait or are in progress, as the queue last said.
    private nonisolated let occupancy = Atomic<Int>(0)

    /// Keeps plain closures on the loop.
    ///
    /// A closure with a capture list is `@concurrent`, whatever the type that it is passed as says (Swift
    /// 6.3): without a preference it would run on the global executor.
    nonisolated let taskExecutor: EventLoopTaskExecutor?

    /// The greatest limit; a configured limit beyond it is as good as none.
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
        // With a limit of 0, a mailbox that is not serial would take no message from another thread.
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

    /// Whether a message that comes to the loop has to wait; for the loop's thread.
    @inline(__always)
    nonisolated var isOccupied: Bool { self.occupancy.load(ordering: .relaxed) > 0 }

    /// How many messages wait or are in progress.
    nonisolated var waiting: Int { self.occupancy.load(ordering: .relaxed) }

    /// Changes the queue.
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

    /// Does what a change of the queue asks for.
    ///
    /// - Returns: whether the queue has taken the message.
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
    /// Whether a message may be handled here and now: the calling thread runs the loop, and no message is
    /// before it.
    @inline(__always)
    nonisolated var isClear: Bool { self.heldLoop.isInEventLoop && !self.isOccupied }

    /// Runs a handler that may suspend in the calling task, which has taken the message through middlewares.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - handler: The handler.
    ///   - hasWaited: Whether the turn of the message has come already.
    /// - Returns: How the handler ended.
    func handle(_ message: Message, by handler: Handler, hasWaited: Bool) async -> Outcome {
        if !hasWaited, let error = await self.waitForTurn(message, handler).failure {
            return .failed(error)
        }
        defer { if !hasWaited { self.endTurn() } }
        if let error = handler.rejection(of: message) { return .failed(error) }
        // The caller may have given up meanwhile.
        if Task.isCancelled { return .failed(.cancelled(url: message.parameters.url)) }
        let context = DeliveryContext.record(ContextRecord(message, inside: DeliveryContext.waiting))
        return await DeliveryContext.local.withValue(context.inherited) {
            // Without a mention of the actor the closure would not be isolated to it.
            _ = self
            return await handler.run(message, isolation: self)
        }
    }

    /// Waits in the calling task until the turn of a message comes.
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
                // Without a mention of the actor the closure would not be isolated to it.
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
            // Without a mention of the actor the closure would not be isolated to it.
            _ = self
            return try await body(message)
        }
    }

    /// Takes a task that waits already into the queue, or rejects it; it may be gone when this returns.
    nonisolated func enter(_ task: QueuedTask) {
        if let error = self.enqueue(task) { task.reject(error) }
    }

    /// Puts a task into the queue.
    ///
    /// - Returns: The reason that the queue does not take it.
    nonisolated func enqueue(_ task: QueuedTask) -> RoutingError? {
        let effect = self.withQueue { queue in
            // Checked under the lock: a handler's end, which removes its messages, comes before this or after
            // it, and so does a cancellation.
            task.handler.isGone || task.isCancelled ? .full : queue.wait(task)
        }
        if self.act(on: effect) { return nil }
        if task.handler.isGone { return task.handler.reason(task.url) }
        return task.isCancelled
            ? .cancelled(url: task.url) : .mailboxFull(url: task.url, limit: self.limit)
    }

    /// Frees the task of a message that has not begun.
    nonisolated func withdraw(_ task: QueuedTask) {
        guard self.withQueue({ $0.withdraw(task) }) else { return }
        task.reject(.cancelled(url: task.url))
        self.grantSlots()
    }

    /// Ends the message in progress of a serial mailbox.
    ///
    /// This comes before the outcome is known: what is sent then, a return leg for example, finds the slot
    /// free.
    @inline(__always)
    nonisolated func endTurn() {
        guard self.isSerial else { return }
        _ = self.act(on: self.withQueue { $0.end() })
        self.grantSlots()
    }
}
