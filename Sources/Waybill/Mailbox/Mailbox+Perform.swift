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
        while !self.catchUp(handler.core) { await self.turn() }
        return await self.run(message, handler)
    }

    /// Runs a message of a serial mailbox when those before it have ended.
    private func performInTurn(_ message: Message, _ handler: Handler) async -> Outcome {
        if self.isBusy(with: DeliveryContext.ongoing) {
            self.leaveQueue()
            return .failed(.deadlock(url: message.parameters.url))
        }
        guard await self.takeTurn(message.id, handler.core) else {
            return .failed(.dropped(url: message.parameters.url, limit: self.limit))
        }
        let outcome = await self.run(message, handler)
        self.endTurn(handler.core)
        return outcome
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
        guard !exchange.isOver else { return self.leaveQueue() }
        exchange.finish(await self.perform(message, handler), of: message, by: handler)
    }

    private func turn() async {
        let pause = Pause<Void>(on: self.eventLoop)
        self.eventLoop.execute { pause.resume(returning: ()) }
        await pause.wait()
    }
}
