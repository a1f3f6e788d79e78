internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

// Messages that nobody awaits.
extension Mailbox {
    /// Whether nothing that was sent before waits in front of a message that has come to the loop now; for the loop's thread.
    nonisolated var isClear: Bool {
        guard self.isOccupied else { return true }
        return self.assumeOnLoop { $0.isSerial ? $0.isFree : !$0.hasPosted }
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
            if self.batch.isEmpty { self.collect(isLast: true) }
            guard let parcel = self.batch.popFirst() else { return }
            self.number += 1
            self.start(parcel)
        }
        self.eventLoop.execute { self.assumeOnLoop { $0.drain() } }
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
            self.endTurn()
            parcel.deadLetter(error)
        } else if parcel.handler.isImmediate, parcel.message.extras?.passage?.chain == nil {
            parcel.handler.settle(parcel.message, in: self)
        } else {
            self.runSuspending(parcel.message, parcel.handler)
        }
    }

    /// Runs a handler that may suspend; it ends with its registration all the same.
    private func runSuspending(_ message: Message, _ handler: Handler) {
        let core = handler.core
        let exchange = Exchange(message.id, url: message.parameters.url, core: core, .sent(message))
        guard exchange.bind(handler: handler) else {
            self.endTurn()
            handler.counters.count(.deadLettered)
            return exchange.finish(.failed(handler.reason(exchange.url)), at: handler)
        }
        if message.due.exists { exchange.expire(at: message.due, on: self.eventLoop) }
        let isSurrounded = message.extras?.passage?.chain != nil
        let attempts = self.isSerial && isSurrounded ? Stage.Attempts() : nil
        exchange.bind(
            task: core.startTask {
                Task.immediate {
                    let outcome = await self.runUnawaited(message, handler, attempts)
                    let leftBehind = attempts.flatMap { $0.isEmpty ? nil : $0 }
                    if leftBehind == nil { self.endTurn() }
                    exchange.finish(outcome, of: message, by: handler)
                    guard let leftBehind else { return }
                    await leftBehind.end()
                    self.endTurn()
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
