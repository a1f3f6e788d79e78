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
            oldest.entry.lose { .dropped(url: $0, limit: self.limit) }
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
    /// Whether a message may run here and now: the calling thread runs the loop, and no message is before it.
    @inline(__always)
    nonisolated var isClear: Bool { self.heldLoop.isInEventLoop && !self.isOccupied }

    /// Handles a message of a handler that cannot suspend, on the loop and in the caller's task.
    ///
    /// The caller is free before that if it is cancelled, or the handler is unregistered.
    @inline(__always)
    nonisolated(nonsending) static func handle(_ task: QueuedTask) async {
        if task.handleAtOnce() { return }
        // The task lives in this frame, and only waits in between. A caller that is cancelled already is told
        // here.
        let observer = unsafe CurrentTask.addCancellationObserver(task)
        await task.handle()
        unsafe CurrentTask.removeCancellationObserver(observer)
    }

    /// The same for a message without a task, which has met middlewares.
    nonisolated(nonsending) func handle(_ message: Message, _ handler: Handler) async -> Outcome {
        if self.isClear { return self.handleInPlace(message, handler) }
        let task = self.queued(message, handler)
        await Self.handle(task)
        return task.takeOutcome()
    }

    /// Handles a message or refuses it, if that can be done without waiting.
    nonisolated func handleAtOnce(_ task: QueuedTask) -> Bool {
        if self.isClear {
            task.end(self.handleInPlace(task.message, task.handler))
            return true
        }
        do throws(RoutingError) {
            try self.check(task.message.id, url: task.url, inside: DeliveryContext.waiting)
            // A refusal by ``enter(_:)`` takes a detour.
            if self.whenFull == .fail, self.waiting >= self.limit, task.takesSlot,
                self.queue.withLock({ $0.isFull })
            {
                throw self.refusal(of: task)
            }
            return false
        } catch {
            task.end(.failed(error))
            return true
        }
    }

    /// Admits a message that ``perform(_:_:after:)`` is going to run.
    ///
    /// - Returns: its task in the queue; nil if it may run at once.
    /// - Throws: the reason that it is not admitted.
    nonisolated func admit(_ message: Message, _ handler: Handler) throws(RoutingError) -> QueuedTask? {
        if self.isClear { return nil }
        try self.check(message.id, url: message.parameters.url, inside: DeliveryContext.waiting)
        let task = self.queued(message, handler, for: nil)
        if let error = self.enqueue(task) { throw error }
        return task
    }

    /// Begins a message here and now, if the calling thread runs the loop and no message is before it;
    /// ``endTurn()`` must follow.
    nonisolated func begin(_ id: CorrelationID) -> Bool {
        guard self.isClear else { return false }
        return !self.isSerial || self.withQueue { $0.start(id) }
    }

    /// Runs an admitted message whose handler may suspend, in its caller's task.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - handler: its handler.
    ///   - queued: its task in the queue; nil if it may run at once.
    /// - Returns: how it ended.
    func perform(_ message: Message, _ handler: Handler, after queued: QueuedTask?) async -> Outcome {
        var task = queued
        if task == nil, self.isSerial || self.isOccupied, !self.withQueue({ $0.start(message.id) }) {
            // Another message has come in between, since a preference for an executor made the caller's task
            // wait.
            let late = QueuedTask(message, handler, for: nil, takesSlot: false, on: self.heldLoop)
            if let error = self.enqueue(late) { return .failed(error) }
            task = late
        }
        if let task {
            await self.wait(for: task)
            if task.isRefused { return task.takeOutcome() }
        }
        defer { self.endTurn() }
        return await self.run(message, handler, for: nil)
    }

    /// Waits for a turn, in the task of the message's caller.
    private func wait(for task: QueuedTask) async {
        // The task lives in this frame, and only waits in between.
        let observer = unsafe CurrentTask.addCancellationObserver(task)
        await task.wait()
        unsafe CurrentTask.removeCancellationObserver(observer)
    }

    /// Runs a message that has left the queue already: one that no caller awaits, and that has met
    /// middlewares since.
    func run(_ message: Message, _ handler: Handler, for exchange: Exchange?) async -> Outcome {
        if let error = self.objection(to: message, handler) { return .failed(error) }
        return await handler.run(message, isolation: self, for: exchange)
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

    private nonisolated func handleInPlace(_ message: Message, _ handler: Handler) -> Outcome {
        if let error = self.objection(to: message, handler) { return .failed(error) }
        return handler.runInPlace(message)
    }

    private nonisolated func objection(to message: borrowing Message, _ handler: Handler) -> RoutingError? {
        // The caller may have given up meanwhile.
        handler.objection(to: message) ?? (Task.isCancelled ? .cancelled(url: message.parameters.url) : nil)
    }

    /// Calls a handler for a message whose turn has come; its caller would have taken it out of the queue.
    nonisolated func runInPlace(_ message: Message, _ handler: Handler) -> Outcome {
        if let error = handler.objection(to: message) { return .failed(error) }
        return handler.runInPlace(message)
    }

    /// Refuses what can never run.
    nonisolated func check(
        _ id: CorrelationID,
        url: @autoclosure () -> String,
        inside caller: @autoclosure () -> DeliveryContext?
    ) throws(RoutingError) {
        if self.heldLoop.isShutDown { throw .loopShutDown(url: url()) }
        guard self.isSerial, let caller = caller() else { return }
        // An earlier attempt of the message itself, which a middleware has given up, comes to an end.
        guard self.isBusy(with: caller.messages.subtracting([id])) else { return }
        throw .deadlock(url: url())
    }

    /// The task of a message whose handler cannot suspend, and which its caller is going to wait for.
    nonisolated func queued(_ message: consuming Message, _ handler: Handler) -> QueuedTask {
        let isHere = self.heldLoop.isInEventLoop && !self.isSerial
        let takesSlot = self.whenFull != .suspend && !isHere
        return QueuedTask(message, handler, for: nil, takesSlot: takesSlot, on: self.heldLoop)
    }

    /// The task of a message whose handler may suspend.
    nonisolated func queued(
        _ message: consuming Message,
        _ handler: Handler,
        for exchange: Exchange?
    ) -> QueuedTask {
        let takesSlot = self.whenFull != .suspend
        return QueuedTask(message, handler, for: exchange, takesSlot: takesSlot, on: self.heldLoop)
    }

    /// Takes a task that waits already into the queue, or refuses it; it may be gone when this returns.
    nonisolated func enter(_ task: QueuedTask) {
        if let error = self.enqueue(task) { task.refuse(error) }
    }

    /// Puts a task into the queue, or says why not.
    nonisolated func enqueue(_ task: QueuedTask) -> RoutingError? {
        var holder: Mailbox?
        let effect = self.withQueue { queue in
            // Checked under the lock: a handler's end, which removes its messages, comes before this or after
            // it, and so does a cancellation.
            let effect = task.handler.isGone || task.isCancelled ? .full : queue.wait(task)
            // What is in the queue may be taken out at once, and with it what holds the mailbox.
            if effect.isWork { holder = self }
            return effect
        }
        defer { withExtendedLifetime(holder) {} }
        return self.act(on: effect) ? nil : self.refusal(of: task)
    }

    private nonisolated func refusal(of task: QueuedTask) -> RoutingError {
        if task.handler.isGone { return task.handler.reason(task.url) }
        return task.isCancelled
            ? .cancelled(url: task.url) : .mailboxFull(url: task.url, limit: self.limit)
    }

    /// Frees the task of a message that has not begun.
    nonisolated func withdraw(_ task: QueuedTask) {
        guard self.withQueue({ $0.withdraw(task) }) else { return }
        task.refuse(.cancelled(url: task.url))
        self.grantSlots()
    }

    /// Ends the message in progress of a serial mailbox.
    ///
    /// Before its outcome is known: what is sent then, its return message for one, finds the slot free.
    @inline(__always)
    nonisolated func endTurn() {
        guard self.isSerial else { return }
        _ = self.act(on: self.withQueue { $0.end() })
        self.grantSlots()
    }
}
