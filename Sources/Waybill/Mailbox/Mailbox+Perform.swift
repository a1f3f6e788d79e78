internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

// Messages that are awaited.
extension Mailbox {
    /// Runs a message that was let in, where its caller has come to.
    func perform(_ message: Message, _ handler: Handler) async -> Outcome {
        if self.isSerial { return await self.performInTurn(message, handler) }
        self.leaveQueue()
        if self.isToBeDropped { return .failed(.dropped(url: message.parameters.url, limit: self.limit)) }
        return await self.performHere(message, handler)
    }

    /// Whether a handler's messages need no place: their callers are on its loop, and would call it in place if nothing had been
    /// posted before.
    nonisolated func isHere(for handler: Handler) -> Bool {
        handler.isImmediate && !self.isSerial && self.unretainedLoop.isInEventLoop
    }

    /// Runs a message that has no place in the queue, or has left it, behind those that were posted before.
    func performHere(_ message: Message, _ handler: Handler) async -> Outcome {
        await self.waitForEarlier()
        return await self.run(message, handler)
    }

    /// Lets the loop run what was posted before now.
    ///
    /// Not here and now: whoever sent it, it was not the task that happens to come by, and it must see neither that
    /// task's values nor its cancellation.
    private func waitForEarlier() async {
        guard self.isOccupied, self.hasPosted else { return }
        // What is posted meanwhile is not waited for: that might never end.
        let end = self.posted.withLock { $0.end }
        while self.hasPosted, self.number < end { await self.eventLoop.turn() }
    }

    /// Runs a message of a serial mailbox when those before it have ended.
    private func performInTurn(_ message: Message, _ handler: Handler) async -> Outcome {
        // An earlier attempt of the message itself, which a middleware has given up, comes to an end.
        if self.isBusy(with: DeliveryContext.ongoing.subtracting([message.id])) {
            self.giveUpQueue()
            return .failed(.deadlock(url: message.parameters.url))
        }
        guard await self.takeTurn(message.id) else { return .failed(.cancelled(url: message.parameters.url)) }
        defer { self.endTurn() }
        if self.isToBeDropped { return .failed(.dropped(url: message.parameters.url, limit: self.limit)) }
        return await self.run(message, handler)
    }

    /// Whether a serial mailbox is busy with one of some messages: whoever is handling that waits for it in vain.
    func isBusy(with ids: Set<CorrelationID>) -> Bool { self.inProgress.map(ids.contains) ?? false }

    private func run(_ message: Message, _ handler: Handler) async -> Outcome {
        if let error = handler.objection(to: message) { return .failed(error) }
        // The caller may have given up meanwhile.
        if Task.isCancelled { return .failed(.cancelled(url: message.parameters.url)) }
        return await handler.run(message, isolation: self, inside: DeliveryContext.current)
    }

    /// Runs a message that was let in, in a task of its own, which inherits the caller's context.
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
        guard !exchange.isOver else { return self.giveUpQueue() }
        exchange.finish(await self.perform(message, handler), of: message, by: handler)
    }
}
