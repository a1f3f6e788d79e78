internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The bounded queue of messages for a module, and the loop on which the module's handlers are called.
///
/// A message can be handled immediately if its sender is on the loop and no other message waits. All other
/// messages wait in one queue in the order of arrival. The queue contains messages that no caller awaits, and
/// the tasks of messages that callers await. Any thread may enqueue messages. Only the loop dequeues
/// messages.
actor Mailbox: LoopBound {
    nonisolated let eventLoop: EventLoop
    nonisolated let heldLoop: HeldEventLoop

    nonisolated let limit: Int
    nonisolated let whenFull: MailboxConfiguration.Overflow
    nonisolated let isSerial: Bool

    /// The identifier of the actor that the mailbox belongs to; nil for the mailbox of handlers that are
    /// closures.
    nonisolated let owner: ObjectIdentifier?
    private nonisolated let ownerType: (any LoopBound.Type)?

    /// The name of the actor's type.
    nonisolated var module: String? { self.ownerType.map { "\($0)" } }

    nonisolated let queue: Locked<MailboxQueue>

    /// The number of messages that wait or are in progress, after the latest change of the queue.
    private nonisolated let occupancy = Atomic<Int>(0)

    /// The executor that runs handlers without an actor, which are closures, on the loop.
    ///
    /// In Swift 6.3, a closure with a capture list is `@concurrent`, whatever the type of its parameter.
    /// Without an executor preference the closure would run on the global executor.
    nonisolated let taskExecutor: EventLoopTaskExecutor?

    init(
        eventLoop: EventLoop,
        configuration: MailboxConfiguration = MailboxConfiguration(),
        limit: Int,
        owner: (any LoopBound)? = nil
    ) {
        self.eventLoop = eventLoop
        self.heldLoop = HeldEventLoop(eventLoop)
        // A greater limit is more messages than a mailbox can hold in practice.
        let limit = min(configuration.limit ?? limit, 1 << 31)
        // With a limit of 0, a mailbox that is not serial would reject all messages from other threads.
        self.limit = max(limit, configuration.isSerial ? 0 : 1)
        self.whenFull = configuration.whenFull
        self.isSerial = configuration.isSerial
        self.queue = Locked(MailboxQueue(limit: self.limit, whenFull: self.whenFull, isSerial: self.isSerial))
        self.owner = owner.map { ObjectIdentifier($0) }
        self.ownerType = owner.map { type(of: $0) }
        self.taskExecutor = owner == nil ? eventLoop.taskExecutor : nil
    }

    nonisolated func hasConfiguration(of other: Mailbox) -> Bool {
        self.eventLoop === other.eventLoop && self.limit == other.limit && self.whenFull == other.whenFull
            && self.isSerial == other.isSerial
    }

    nonisolated var waiting: Int { self.occupancy.load(ordering: .relaxed) }

    /// Whether a message from a sender on the loop must wait.
    ///
    /// Only the loop's thread may read this property.
    @inline(__always)
    nonisolated var isOccupied: Bool { self.waiting > 0 }

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

    /// Performs the action that a change of the queue requires, and returns whether the queue has accepted
    /// the message.
    @inline(__always)
    nonisolated func act(on effect: consuming MailboxQueue.Effect) -> Bool {
        switch consume effect {
        case .none: break
        case .drain: self.drainLater()
        case .rejected: return false
        case .dropped(var dropped, let isDue):
            while let entry = dropped.popFirst() { entry.fail { .dropped(url: $0, limit: self.limit) } }
            if isDue { self.drainLater() }
        }
        return true
    }

    @inline(never)
    nonisolated func drainLater() { self.eventLoop.execute { self.assumeOnLoop { $0.drain() } } }
}

// The part of the mailbox that runs on the loop and takes messages from the queue.
extension Mailbox {
    /// Starts the queued messages until the loop's budget of deliveries is used up, and then lets the loop
    /// poll.
    func drain() {
        while self.heldLoop.consumeDeliveryBudget() {
            guard let entry = self.withQueue({ $0.startNext() }) else { return }
            self.grantSlots()
            switch consume entry {
            case .sent(let envelope): self.handle(envelope)
            // This method is a callback of the loop and not code of a task, so the task can run in this call.
            case .awaited(let task, _): task.resume()
            }
        }
        self.drainLater()
    }

    /// Handles a message that no caller awaits.
    private func handle(_ envelope: consuming Envelope) {
        guard let handler = envelope.target.handler, handler.isSynchronous, envelope.chain == nil else {
            return self.startTask(of: envelope)
        }
        let outcome = handler.handle(envelope.message)
        self.endTurn()
        handler.core.settle(
            envelope.ticket,
            as: outcome,
            of: envelope.message,
            for: .nobody,
            at: handler,
            on: handler.shard
        )
    }

    /// Starts a task that handles a message that no caller awaits.
    private func startTask(of envelope: consuming Envelope) {
        let (core, message, handler) = (envelope.core, envelope.message, envelope.target.handler)
        let interception = envelope.chain.map { chain in
            Interception(
                message,
                by: chain,
                to: envelope.target,
                on: core,
                deadline: message.expiry,
                hasWaited: true,
                attempts: self.isSerial ? Interception.Attempts() : nil
            )
        }
        guard let code = interception.map(TaskWork.Code.middlewares) ?? handler.map(TaskWork.Code.handler)
        else { preconditionFailure("internal error: a message has neither a handler nor middlewares") }
        let exchange = Exchange(for: message, ticket: envelope.ticket, at: handler, to: .nobody, core: core)
        exchange.startTask(for: TaskWork(code: code, message: message, endsTurn: true))
    }
}

// Messages that a caller awaits.
extension Mailbox {
    /// Runs a closure that may suspend.
    func run(
        _ message: Message,
        _ body: @Sendable (Message) async throws -> any Sendable
    ) async throws -> any Sendable {
        guard let executor = self.taskExecutor else { return try await body(message) }
        return try await withTaskExecutorPreference(executor, isolation: self) {
            // The closure is isolated to the actor only if the closure uses the actor.
            _ = self
            return try await body(message)
        }
    }

    /// Enqueues a message and its waiting task, or returns the reason why the queue rejects the task.
    nonisolated func addToQueue(_ task: QueuedTask) -> RoutingError? {
        let effect = self.withQueue { queue in
            // Check both flags under the lock. A retired handler and a cancelled caller set their flag before
            // they search the queue. Either this code finds the flag, or their search finds the message.
            task.handler.isGone || task.isCancelled ? .rejected : queue.append(task)
        }
        if self.act(on: effect) { return nil }
        if task.handler.isGone { return task.handler.retirementError(task.url) }
        return task.isCancelled
            ? .cancelled(url: task.url) : .mailboxFull(url: task.url, limit: self.limit)
    }

    /// Rejects a message whose handler has not begun, and resumes the message's task.
    nonisolated func remove(_ task: QueuedTask) {
        guard self.withQueue({ $0.remove(task) }) else { return }
        task.reject(.cancelled(url: task.url))
        self.grantSlots()
    }

    /// Ends the turn of the message that a serial mailbox is handling.
    ///
    /// This method is called before the message is settled. A message that is sent while the message is
    /// settled, for example to the return URL, then finds the slot free.
    nonisolated func endTurn() {
        guard self.isSerial else { return }
        _ = self.act(on: self.withQueue { $0.end() })
        self.grantSlots()
    }
}

// Messages that no caller awaits, from any thread.
extension Mailbox {
    /// Enqueues a message that no caller awaits, even if its sender is on the loop.
    ///
    /// `hasSlot` states whether the sender has already taken a slot. If the queue rejects the message,
    /// settles the message for `sender` and returns the reason.
    @inline(__always)
    @discardableResult
    nonisolated func post(
        _ envelope: consuming Envelope,
        for sender: Recipient = .nobody,
        hasSlot: Bool = false
    ) -> RoutingError? {
        // A slot is given back when the queue rejects its messages at the end of the loop.
        if !hasSlot, self.heldLoop.isShutDown {
            return envelope.reject(for: sender, RoutingError.loopShutDown)
        }
        // A closure cannot consume a captured value, so the closure takes the envelope out of this variable.
        var rest: Envelope? = consume envelope
        if self.act(on: self.withQueue({ $0.send(&rest, hasSlot: hasSlot) })) { return nil }
        return rest.take()?.reject(for: sender) { .mailboxFull(url: $0, limit: self.limit) }
    }

    /// Lets the loop handle queued messages when a sender on this loop finds the mailbox full.
    ///
    /// Only the loop can free a slot, and the loop cannot do so while it runs the sender.
    nonisolated(nonsending) func makeRoom() async {
        // Yield several times. The loop possibly polls before it starts the first message, and the sender can
        // resume before that.
        for _ in 0..<4 where self.heldLoop.isInEventLoop && self.queue.withLock({ $0.isFull }) {
            await self.eventLoop.yield()
        }
    }

    nonisolated func takeSlot() -> Bool { self.withQueue { $0.takeSlot() } }

    /// Waits for a slot, and returns whether the sender has a slot.
    ///
    /// A sender without a slot must check again whether it was cancelled, whether its deadline has passed,
    /// and whether the handler is registered.
    nonisolated(nonsending) func waitForSlot(
        for handler: Handler,
        by time: TimeSource,
        until deadline: Deadline
    ) async -> Bool {
        let sender = LoopContinuation<Bool>(on: .current)
        var watch: DeadlineWatch?
        defer { watch?.cancel() }
        return await sender.wait(isolation: #isolation) {
            if !self.withQueue({ $0.addSender(sender, to: handler) }) { sender.resume(returning: true) }
            // Set the timer after the sender is added. If the deadline passed before that, the timer would
            // not find the sender.
            if deadline.exists {
                watch = DeadlineWatch(deadline, by: time, on: .current) { self.removeSender(sender) }
            }
            // The cancellation or the end of the registration possibly came before the sender was added.
            if Task.isCancelled || handler.isGone { self.removeSender(sender) }
        } onCancel: {
            self.removeSender(sender)
        }
    }

    private nonisolated func removeSender(_ sender: LoopContinuation<Bool>) {
        if self.withQueue({ $0.removeSender(sender) }) { sender.resume(returning: false) }
    }

    /// Gives free slots to the senders that wait for a slot.
    nonisolated func grantSlots() {
        guard self.whenFull == .suspend else { return }
        while let sender = self.withQueue({ $0.grantSlot() }) { sender.resume(returning: true) }
    }

    /// Whether a serial mailbox is handling one of the given messages.
    ///
    /// If the handler of this message waited for the mailbox, neither the handler nor the mailbox could
    /// continue.
    nonisolated func isBusy(with messages: Set<CorrelationID>) -> Bool {
        guard self.isSerial, !messages.isEmpty else { return false }
        return self.withQueue { $0.inProgress }.map(messages.contains) ?? false
    }

    /// Rejects the messages whose handlers have been unregistered, and resumes the senders that wait for
    /// these handlers.
    nonisolated func removeUnreachable() {
        for sender in self.withQueue({ $0.removeUnreachableSenders() }) { sender.resume(returning: false) }
        var removed = self.withQueue { $0.removeUnreachable() }
        while let entry = removed.popFirst() {
            let handler = entry.handler
            entry.fail { handler?.retirementError($0) ?? .unregistered(url: $0) }
        }
        self.grantSlots()
    }
}
