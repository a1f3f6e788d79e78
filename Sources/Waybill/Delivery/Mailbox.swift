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

    /// Whose mailbox it is, if it is in front of an actor.
    nonisolated let owner: ObjectIdentifier?

    /// Messages that were given to the mailbox and have not been started.
    nonisolated let waiting = Atomic<Int>(0)
    private nonisolated let posted = Locked(PostBox())

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
        self.limit = limit
        self.owner = owner
        self.taskExecutor = owner == nil ? eventLoop.taskExecutor : nil
    }

    /// Takes a place in the queue; the message must be performed afterwards.
    nonisolated func enter(url: String) throws(RoutingError) {
        if self.eventLoop.isShutDown { throw .loopShutDown(url: url) }
        if self.waiting.add(1, ordering: .relaxed).newValue > self.limit {
            self.waiting.subtract(1, ordering: .relaxed)
            throw .mailboxFull(url: url, limit: self.limit)
        }
    }

    /// Leaves a message that nobody awaits.
    nonisolated func post(_ parcel: Parcel) throws(RoutingError) {
        try self.enter(url: parcel.message.parameters.url)
        guard self.posted.withLock({ $0.append(parcel) }) else { return }
        self.eventLoop.execute { self.assumeOnLoop { $0.drain() } }
    }

    /// Runs a message that has a place in the queue.
    func perform(_ parcel: Parcel) async -> Outcome {
        self.waiting.subtract(1, ordering: .relaxed)
        while !self.catchUp() { await self.turn() }
        if let error = parcel.objection { return .failed(error) }
        // The caller may have given up meanwhile.
        if Task.isCancelled { return .failed(.cancelled(url: parcel.message.parameters.url)) }
        return await parcel.run(isolation: self, inside: DeliveryContext.current)
    }

    /// Runs a message that has a place in the queue in a task of its own, which inherits the caller's context.
    nonisolated func start(_ parcel: Parcel, _ exchange: Exchange) {
        if self.eventLoop.isInEventLoop {
            self.assumeOnLoop { $0.startInPlace(parcel, exchange) }
        } else {
            // It begins on this thread, and at once waits in line for the loop.
            exchange.bind(task: Task.immediate { await self.perform(parcel, exchange) })
        }
    }

    private func startInPlace(_ parcel: Parcel, _ exchange: Exchange) {
        let task = parcel.handler.core.startTask { Task.immediate { await self.perform(parcel, exchange) } }
        exchange.bind(task: task)
    }

    private func perform(_ parcel: Parcel, _ exchange: Exchange) async {
        guard !exchange.isOver else {
            self.waiting.subtract(1, ordering: .relaxed)
            return
        }
        let outcome = await self.perform(parcel)
        exchange.finish(outcome, of: parcel.message)
    }

    /// Runs what was posted before now.
    ///
    /// A handler that runs here may route to its own module and so come here again. Each takes one message at a time,
    /// oldest first, and so the order holds; but since the stack has an end, the deepest has to wait.
    ///
    /// - Returns: false if the caller has to let the loop turn first and try again.
    func catchUp() -> Bool {
        var left = self.posted.withLock { $0.count }
        guard left > 0 else { return true }
        guard self.depth < Self.deepest else { return false }
        self.depth += 1
        defer { self.depth -= 1 }
        // What is posted meanwhile is not waited for: that might never end.
        while left > 0, let parcel = self.posted.withLock({ $0.popFirst() }) {
            left -= 1
            // Whoever sent it, it was not the task that happens to come by.
            parcel.handler.core.apart { self.start(parcel) }
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
            guard let parcel = self.posted.withLock({ $0.takeFirst() }) else { return }
            self.start(parcel)
        }
        self.eventLoop.execute { self.assumeOnLoop { $0.drain() } }
    }

    /// Runs a handler that may suspend for a message that nobody awaits; it ends with its registration all the same.
    private func startUnawaited(_ parcel: Parcel) {
        let message = parcel.message
        let core = parcel.handler.core
        let exchange = Exchange(message.id, url: message.parameters.url, core: core, .sent(message))
        guard exchange.bind(handler: parcel.handler) else {
            return exchange.finish(.failed(parcel.objection ?? .unregistered(url: exchange.url)))
        }
        if message.extras?.hasDeadline == true, let deadline = message.deadline {
            exchange.expire(at: deadline, on: self.eventLoop)
        }
        exchange.bind(
            task: core.startTask {
                Task.immediate {
                    exchange.finish(await parcel.run(isolation: self, inside: nil), of: parcel.message)
                }
            }
        )
    }

    private func start(_ parcel: Parcel) {
        self.waiting.subtract(1, ordering: .relaxed)
        if let error = parcel.objection { return parcel.settle(.failed(error)) }
        switch parcel.handler.body {
        case .immediate(let body):
            parcel.settle(parcel.call(body))
        case .suspending:
            self.startUnawaited(parcel)
        }
    }
}
