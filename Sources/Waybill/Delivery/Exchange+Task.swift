internal import WaybillEventLoop
internal import WaybillRouting

// The task of a handler that may suspend: what it is given, and how it ends.
extension Exchange {
    /// Starts the handler in a task of its own, within this call, on the loop of its mailbox and before
    /// anything else that waits there.
    ///
    /// Nothing can end the exchange but the handler before this returns, since its caller is here. So what
    /// frees the caller, and what frees others from it, is needed only if the handler has suspended then.
    func start(_ message: consuming Message, at handler: Handler, on watcher: EventLoop?) {
        guard !handler.isGone, let code = handler.code.suspending else {
            handler.mailbox.endTurn()
            return self.finish(.failed(handler.reason(self.url)))
        }
        // No task has the exchange yet that takes it.
        unsafe self.delivery = SuspendingDelivery(message: consume message, handler: handler)
        let task = self.core.startTask { code.start(self) }
        if !self.isOver { self.wait(for: task, of: handler, on: watcher) }
    }

    /// Has everything wait for a handler that has suspended.
    private func wait(for task: HandlerTask, of handler: Handler, on watcher: EventLoop?) {
        self.bind(task: task)
        guard self.attach(to: handler) || self.core.isExempt(self) else {
            return self.finish(.failed(handler.reason(self.url)))
        }
        if self.expiry.exists { self.expire(at: self.expiry, on: watcher) }
    }

    /// Has the handler started in a task of its own when the message's turn comes in the handler's mailbox.
    ///
    /// The task inherits from the caller, so it is made here and waits with the message.
    func queue(_ message: consuming Message, at handler: Handler, on watcher: EventLoop?) {
        let mailbox = handler.mailbox
        do throws(RoutingError) {
            try mailbox.check(self.id, url: self.url, inside: self.caller)
        } catch {
            return self.finish(.failed(error.at(handler)))
        }
        let queued = mailbox.queued(message, handler, for: self)
        guard self.attach(to: handler, queued) else {
            return self.finish(.failed(handler.reason(self.url)))
        }
        // First: a message that the loop finds in the queue must have its task, or the next would overtake it.
        self.bind(task: handler.code.suspending?.start(queued) ?? queued.startHandling())
        // The deadline is watched when the handler begins, which may be before this thread continues.
        if self.expiry.exists { self.expire(at: self.expiry, on: watcher) }
        if let error = mailbox.enqueue(queued) {
            self.finish(.failed(error))
            return queued.refuse(error)
        }
    }

    /// The message and its handler, for the task that ``start(_:at:on:)`` has started.
    @usableFromInline
    func takeDelivery() -> SuspendingDelivery {
        // It was left before this task began, and no other code takes it.
        guard let delivery = unsafe self.delivery.take() else {
            preconditionFailure("a message is delivered once")
        }
        return delivery
    }

    /// Has the calling task, which is about to run the handler, be in the exchange's context until
    /// ``finish(leaving:isReply:of:by:)``.
    @unsafe
    @usableFromInline
    func enter() { unsafe self.context().enter() }

    /// Ends the exchange as its handler did, and its context.
    @unsafe
    @usableFromInline
    func finish(leaving outcome: inout Outcome?, isReply: Bool, of message: Message, by handler: Handler) {
        unsafe DeliveryContext.leave()
        handler.mailbox.endTurn()
        self.finish(taking: &outcome, isReply: isReply, of: message, by: handler)
    }
}

/// A message on its way to a handler that may suspend.
@usableFromInline
struct SuspendingDelivery: Sendable {
    @usableFromInline let message: Message
    @usableFromInline let handler: Handler
}

extension Handler {
    /// The outcome of a message for which the handler has thrown.
    @usableFromInline
    @inline(never)
    func outcome(of error: any Error, _ message: Message) -> Outcome {
        .failed(self.failure(error, of: message))
    }
}
