internal import WaybillEventLoop
internal import WaybillRouting

extension Mailbox {
    /// The place where an awaited message is handled.
    enum Place {
        /// In this call, immediately.
        case here
        /// In the queue. `takesSlot` states whether the message counts against the limit of the mailbox.
        case queue(takesSlot: Bool)
    }

    /// Decides where an awaited message is handled.
    ///
    /// A message is handled immediately when the calling thread runs the loop and no other message precedes
    /// it. After a handler that may suspend, call ``endTurn()``.
    ///
    /// A queued message does not take a slot in two cases. The first case is a mailbox that suspends senders,
    /// because the caller of the message waits anyway. The second case is a mailbox that is not serial, when
    /// the calling thread runs the loop. The loop is then about to handle the preceding messages.
    ///
    /// - Parameters:
    ///   - id: The ID of the message.
    ///   - isImmediate: Whether the handler of the message cannot suspend.
    /// - Returns: The place.
    @inline(__always)
    nonisolated func place(_ id: CorrelationID, isImmediate: Bool) -> Place {
        if self.isClear, isImmediate || !self.isSerial || self.start(id) { return .here }
        return .queue(takesSlot: self.takesSlot)
    }

    /// Begins the turn of a message in a serial mailbox, unless another message precedes it.
    @inline(never)
    private nonisolated func start(_ id: CorrelationID) -> Bool { self.withQueue { $0.start(id) } }

    /// Whether an awaited message of the calling thread counts against the limit while it waits.
    @inline(never)
    nonisolated var takesSlot: Bool {
        self.whenFull != .suspend && (self.isSerial || !self.heldLoop.isInEventLoop)
    }

    /// Returns the reason why an awaited message can never be handled, or nil.
    nonisolated func rejection(
        of id: CorrelationID,
        to url: @autoclosure () -> String,
        inside caller: @autoclosure () -> DeliveryContext?
    ) -> RoutingError? {
        if self.heldLoop.isShutDown { return .loopShutDown(url: url()) }
        guard self.isSerial, let caller = caller() else { return nil }
        // A middleware may have abandoned an earlier attempt to deliver this message. The earlier attempt
        // will end, so waiting for it is not a deadlock.
        return self.isBusy(with: caller.messages.subtracting([id])) ? .deadlock(url: url()) : nil
    }
}

extension Handler {
    /// Handles a message in the calling task, immediately or when its turn comes.
    ///
    /// The caller must end the message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - hasWaited: Whether it is already the message's turn.
    /// - Returns: The outcome of the handler.
    nonisolated(nonsending) func handle(_ message: Message, hasWaited: Bool = false) async -> Outcome {
        if self.isImmediate, !hasWaited {
            return await QueuedTask(message, for: self, takesSlot: self.mailbox.takesSlot).handle()
        }
        return await self.mailbox.handle(message, by: self, hasWaited: hasWaited)
    }
}

extension QueuedTask {
    /// Handles the message in the calling task, immediately or when its turn comes in the mailbox.
    ///
    /// Cancellation of the caller, and the end of the handler's registration, end the wait.
    nonisolated(nonsending) func handle() async -> Outcome {
        if let outcome = self.handleAtOnce() { return outcome }
        self.enterQueueWithJob()
        await Self.handleInTurn(self, isolation: #isolation)
        return self.takeOutcome()
    }

    /// Handles or rejects the message, or returns nil when the message must wait.
    private nonisolated func handleAtOnce() -> Outcome? {
        let mailbox = self.handler.mailbox
        guard mailbox.isClear else {
            return mailbox.rejection(of: self.message.id, to: self.url, inside: DeliveryContext.waiting)
                .map { .failed($0) }
        }
        if let error = self.handler.rejection(of: self.message) { return .failed(error) }
        // The caller may have been cancelled in the meantime.
        if Task.isCancelled { return .failed(.cancelled(url: self.url)) }
        return self.handler.invoke(self.message) { try $0.callBoxed($1) }
    }

    private static func handleInTurn(_ task: QueuedTask, isolation: isolated (any Actor)?) async {
        await withTaskCancellationHandler(
            operation: {
                // The closure is isolated to the caller because it captures the parameter.
                _ = isolation
                await task.handleInTurn()
            },
            onCancel: { task.cancel() }
        )
    }
}
