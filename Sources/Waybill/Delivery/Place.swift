internal import WaybillEventLoop
internal import WaybillRouting

extension Mailbox {
    /// Where a message that its caller awaits is handled.
    enum Place {
        /// Here and now.
        case here
        /// In the queue; `takesSlot` is whether the message counts against the limit of the mailbox.
        case queue(takesSlot: Bool)
    }

    /// Decides where an awaited message is handled; ``endTurn()`` must follow when the message is handled here by
    /// a handler that may suspend.
    ///
    /// A message is handled here when the calling thread runs the loop and no other message is before it. A
    /// message that waits takes no slot where senders are suspended, since its caller waits as it is, nor on
    /// the loop itself, where the messages before it are about to be handled.
    ///
    /// - Parameters:
    ///   - id: The message.
    ///   - isImmediate: Whether its handler cannot suspend.
    /// - Returns: Where the message is handled.
    @inline(__always)
    nonisolated func place(_ id: CorrelationID, isImmediate: Bool) -> Place {
        if self.isClear, isImmediate || !self.isSerial || self.start(id) { return .here }
        return .queue(takesSlot: self.takesSlot)
    }

    /// Begins the turn of a message in a serial mailbox, unless another message is before it.
    @inline(never)
    private nonisolated func start(_ id: CorrelationID) -> Bool { self.withQueue { $0.start(id) } }

    /// Whether an awaited message of the calling thread counts against the limit while it waits.
    @inline(never)
    nonisolated var takesSlot: Bool {
        self.whenFull != .suspend && (self.isSerial || !self.heldLoop.isInEventLoop)
    }

    /// Returns the reason that an awaited message can never be handled, or nil.
    nonisolated func rejection(
        of id: CorrelationID,
        to url: @autoclosure () -> String,
        inside caller: @autoclosure () -> DeliveryContext?
    ) -> RoutingError? {
        if self.heldLoop.isShutDown { return .loopShutDown(url: url()) }
        guard self.isSerial, let caller = caller() else { return nil }
        // An earlier attempt of the message itself, which a middleware has given up, comes to an end.
        return self.isBusy(with: caller.messages.subtracting([id])) ? .deadlock(url: url()) : nil
    }
}

extension Handler {
    /// Handles a message in the calling task: at once, or when its turn comes.
    ///
    /// Other code ends the message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - hasWaited: Whether the turn of the message has come already.
    /// - Returns: How the handler ended.
    nonisolated(nonsending) func handle(_ message: Message, hasWaited: Bool = false) async -> Outcome {
        if self.isImmediate, !hasWaited {
            return await QueuedTask(message, for: self, takesSlot: self.mailbox.takesSlot).handle()
        }
        return await self.mailbox.handle(message, by: self, hasWaited: hasWaited)
    }
}

extension QueuedTask {
    /// Handles the message in the calling task: at once, or when its turn comes in the mailbox.
    ///
    /// The caller is free before its turn if it is cancelled, or the handler is unregistered.
    nonisolated(nonsending) func handle() async -> Outcome {
        if let outcome = self.handleAtOnce() { return outcome }
        self.enterQueueWithJob()
        await Self.handleInTurn(self, isolation: #isolation)
        return self.takeOutcome()
    }

    /// Handles the message or rejects it, if that can be done without waiting.
    private nonisolated func handleAtOnce() -> Outcome? {
        let mailbox = self.handler.mailbox
        guard mailbox.isClear else {
            return mailbox.rejection(of: self.message.id, to: self.url, inside: DeliveryContext.waiting)
                .map { .failed($0) }
        }
        if let error = self.handler.rejection(of: self.message) { return .failed(error) }
        // The caller may have given up meanwhile.
        if Task.isCancelled { return .failed(.cancelled(url: self.url)) }
        return self.handler.invoke(self.message) { try $0.callBoxed($1) }
    }

    private static func handleInTurn(_ task: QueuedTask, isolation: isolated (any Actor)?) async {
        await withTaskCancellationHandler(
            operation: {
                // Captured, the parameter isolates the closure to the caller.
                _ = isolation
                await task.handleInTurn()
            },
            onCancel: { task.cancel() }
        )
    }
}
