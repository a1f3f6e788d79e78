internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

// Messages that nobody awaits.
extension Mailbox {
    /// How deep ``catchUp()`` may call itself: the stack has an end.
    private static let deepest = 8

    /// Runs what was posted before now.
    ///
    /// A handler that runs here may route to its own module and so come here again. Each takes one message at a time,
    /// oldest first, and so the order holds; but the deepest has to wait.
    ///
    /// - Parameter core: the bus of whoever comes by.
    /// - Returns: false if the caller has to let the loop turn first and try again, or has to wait for its turn.
    func catchUp(_ core: BusCore) -> Bool {
        if self.isSerial { return self.isFree(core) }
        // What is posted meanwhile is not waited for: that might never end.
        var left = Self.places(self.waiting.load(ordering: .relaxed))
        guard left > 0, self.hasPosted else { return true }
        guard self.depth < Self.deepest else { return false }
        self.depth += 1
        defer { self.depth -= 1 }
        // Whoever sent it, it was not the task that happens to come by.
        core.apart {
            while left > 0, let parcel = self.next() {
                left -= 1
                self.start(parcel)
            }
        }
        return true
    }

    /// Whether something has been posted and not been started.
    var hasPosted: Bool {
        if self.batch.isEmpty { self.collect(isLast: false) }
        return !self.batch.isEmpty
    }

    /// Takes what has been posted into the empty ``batch``.
    @inline(__always)
    func collect(isLast: Bool) {
        self.number = self.posted.withLock { $0.collect(&self.batch, isLast: isLast) }
    }

    /// Runs what is posted, and lets the loop poll now and then.
    func drain() {
        if self.isSerial { return self.advance() }
        while self.unretainedLoop.consumeDeliveryBudget() {
            guard let parcel = self.next(isLast: true) else { return }
            self.start(parcel)
        }
        self.eventLoop.execute { self.assumeOnLoop { $0.drain() } }
    }

    /// The oldest message that nobody awaits.
    func next(isLast: Bool = false) -> Parcel? {
        if self.batch.isEmpty { self.collect(isLast: isLast) }
        return self.batch.popFirst()
    }

    private func start(_ parcel: borrowing Parcel) {
        self.freePlace()
        if self.isToBeDropped { return parcel.drop(limit: self.limit) }
        self.run(parcel)
    }

    /// Runs a message that nobody awaits.
    func run(_ parcel: borrowing Parcel) {
        let isLate = parcel.handler.isGone || parcel.message.due.exists
        if isLate, let error = parcel.handler.objection(to: parcel.message) {
            parcel.deadLetter(error)
            self.endTurn(parcel.handler.core)
        } else if parcel.handler.isImmediate, parcel.message.extras?.passage?.chain == nil {
            parcel.handler.settle(parcel.message)
            self.endTurn(parcel.handler.core)
        } else {
            self.runSuspending(parcel.message, parcel.handler)
        }
    }

    /// Runs a handler that may suspend; it ends with its registration all the same.
    private func runSuspending(_ message: Message, _ handler: Handler) {
        let core = handler.core
        let exchange = Exchange(message.id, url: message.parameters.url, core: core, .sent(message))
        guard exchange.bind(handler: handler) else {
            handler.counters.count(.deadLettered)
            exchange.finish(.failed(handler.reason(exchange.url)), at: handler)
            return self.endTurn(core)
        }
        if message.due.exists { exchange.expire(at: message.due, on: self.eventLoop) }
        exchange.bind(
            task: core.startTask {
                Task.immediate {
                    let outcome = await self.runUnawaited(message, handler)
                    exchange.finish(outcome, of: message, by: handler)
                    self.endTurn(core)
                }
            }
        )
    }

    /// Whether the message that is about to be started has to make room for a younger one.
    var isToBeDropped: Bool {
        guard self.whenFull == .dropOldest, self.excess.load(ordering: .relaxed) > 0 else { return false }
        self.excess.subtract(1, ordering: .relaxed)
        return true
    }
}

extension Parcel {
    /// Ends a message that had to make room for a younger one.
    func drop(limit: Int) {
        self.deadLetter(.dropped(url: self.message.parameters.url, limit: limit))
    }
}
