internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The bounded queue in front of a module, and the place where its handlers are called: the module's loop.
///
/// A message that is awaited comes with its caller's task and waits in the loop's queue; one that nobody awaits waits in
/// ``posted``. Whoever runs a message first runs what was posted before it, so that one sender's messages are handled
/// in the order sent.
actor Mailbox: LoopBound {
    nonisolated let eventLoop: EventLoop
    nonisolated let limit: Int
    private nonisolated let unretainedLoop: UnretainedEventLoop

    /// Whose mailbox it is, if it is in front of an actor.
    nonisolated let owner: ObjectIdentifier?

    /// Messages that were given to the mailbox and have not been started.
    nonisolated let waiting = Atomic<Int>(0)
    private nonisolated let posted = Locked(PostBox())

    /// What has been taken out of ``posted`` and not been started.
    private var batch = UniqueDeque<Parcel>()

    /// Keeps plain closures on the loop.
    ///
    /// A closure with a capture list is `@concurrent`, whatever the type that it is passed as says (Swift 6.3): without
    /// a preference it would run on the global executor.
    nonisolated let taskExecutor: EventLoopTaskExecutor?

    /// How many calls of ``catchUp()`` are under way, one inside the other.
    private var depth = 0
    private static let deepest = 8

    init(eventLoop: EventLoop, limit: Int, owner: ObjectIdentifier? = nil) {
        self.eventLoop = eventLoop
        self.unretainedLoop = UnretainedEventLoop(eventLoop)
        self.limit = limit
        self.owner = owner
        self.taskExecutor = owner == nil ? eventLoop.taskExecutor : nil
    }

    /// Takes a place in the queue; the message must be performed afterwards.
    @inline(__always)
    nonisolated func enter(_ message: borrowing Message) throws(RoutingError) {
        if self.unretainedLoop.isShutDown { throw .loopShutDown(url: message.parameters.url) }
        if self.waiting.add(1, ordering: .relaxed).newValue > self.limit {
            self.waiting.subtract(1, ordering: .relaxed)
            throw .mailboxFull(url: message.parameters.url, limit: self.limit)
        }
    }

    /// Leaves a message that nobody awaits.
    nonisolated func post(_ parcel: consuming Parcel) throws(RoutingError) {
        try self.enter(parcel.message)
        // A closure cannot consume what it captures.
        var slot: Parcel? = consume parcel
        let isFirst = self.posted.withLock { box in
            if let parcel = slot.take() { box.append(parcel) } else { false }
        }
        if isFirst { self.eventLoop.execute { self.assumeOnLoop { $0.drain() } } }
    }

    /// Runs a message that has a place in the queue, where its caller has come to.
    func perform(_ message: Message, _ handler: Handler) async -> Outcome {
        self.waiting.subtract(1, ordering: .relaxed)
        while !self.catchUp() { await self.turn() }
        if let error = handler.objection(to: message) { return .failed(error) }
        // The caller may have given up meanwhile.
        if Task.isCancelled { return .failed(.cancelled(url: message.parameters.url)) }
        return await handler.run(message, isolation: self, inside: DeliveryContext.current)
    }

    /// Runs a message that has a place in the queue in a task of its own, which inherits the caller's context.
    nonisolated func start(_ message: Message, _ handler: Handler, _ exchange: Exchange) {
        if self.unretainedLoop.isInEventLoop {
            self.assumeOnLoop { $0.startInPlace(message, handler, exchange) }
        } else {
            // It begins on this thread, and at once waits in line for the loop.
            exchange.bind(task: Task.immediate { await self.perform(message, handler, exchange) })
        }
    }

    private func startInPlace(_ message: Message, _ handler: Handler, _ exchange: Exchange) {
        let task = handler.core.startTask {
            Task.immediate { await self.perform(message, handler, exchange) }
        }
        exchange.bind(task: task)
    }

    private func perform(_ message: Message, _ handler: Handler, _ exchange: Exchange) async {
        guard !exchange.isOver else {
            self.waiting.subtract(1, ordering: .relaxed)
            return
        }
        exchange.finish(await self.perform(message, handler), of: message)
    }

    /// Runs what was posted before now.
    ///
    /// A handler that runs here may route to its own module and so come here again. Each takes one message at a time,
    /// oldest first, and so the order holds; but since the stack has an end, the deepest has to wait.
    ///
    /// - Returns: false if the caller has to let the loop turn first and try again.
    func catchUp() -> Bool {
        // What is posted meanwhile is not waited for: that might never end.
        var left = self.waiting.load(ordering: .relaxed)
        guard left > 0, let first = self.next() else { return true }
        guard self.depth < Self.deepest else {
            self.batch.prepend(first)
            return false
        }
        self.depth += 1
        defer { self.depth -= 1 }
        self.start(first)
        left -= 1
        while left > 0, let parcel = self.next() {
            left -= 1
            self.start(parcel)
        }
        return true
    }

    private func turn() async {
        await withCheckedContinuation { continuation in
            self.eventLoop.execute { continuation.resume() }
        }
    }

    /// Runs what is posted, and lets the loop poll now and then.
    private func drain() {
        while self.eventLoop.consumeDeliveryBudget() {
            guard let parcel = self.next(isLast: true) else { return }
            self.start(parcel)
        }
        self.eventLoop.execute { self.assumeOnLoop { $0.drain() } }
    }

    /// The oldest message that nobody awaits.
    private func next(isLast: Bool = false) -> Parcel? {
        if self.batch.isEmpty {
            self.posted.withLock { $0.collect(&self.batch, isLast: isLast) }
        }
        return self.batch.popFirst()
    }

    private func start(_ parcel: borrowing Parcel) {
        self.waiting.subtract(1, ordering: .relaxed)
        if parcel.handler.isGone || parcel.message.extras?.hasDeadline == true,
            let error = parcel.handler.objection(to: parcel.message)
        {
            parcel.handler.core.deadLetter(parcel.message, error)
        } else if parcel.handler.isImmediate, parcel.message.extras?.passage?.outermost == nil {
            parcel.handler.settle(parcel.message)
        } else {
            self.startUnawaited(parcel.message, parcel.handler)
        }
    }

    /// Runs a handler that may suspend for a message that nobody awaits; it ends with its registration all the same.
    private func startUnawaited(_ message: Message, _ handler: Handler) {
        let core = handler.core
        let exchange = Exchange(message.id, url: message.parameters.url, core: core, .sent(message))
        guard exchange.bind(handler: handler) else {
            return exchange.finish(.failed(handler.reason(exchange.url)))
        }
        if message.extras?.hasDeadline == true, let deadline = message.deadline {
            exchange.expire(at: deadline, on: self.eventLoop)
        }
        exchange.bind(
            task: core.startTask {
                Task.immediate {
                    exchange.finish(await self.runUnawaited(message, handler), of: message)
                }
            }
        )
    }
}
