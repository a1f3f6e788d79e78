internal import WaybillEventLoop
internal import WaybillRouting

extension Handler {
    /// Calls a handler that cannot suspend.
    ///
    /// Every call of a handler that cannot suspend goes through this function. The calling thread must run
    /// the handler's loop, and no other message of the mailbox may precede this message. If the code that
    /// passes `call` knows the type of the value, `call` can store the value unboxed.
    @inline(__always)
    func invoke(_ message: Message, _ call: (Handler, Message) throws -> (any Sendable)?) -> Outcome {
        guard let shard = self.shard else { return self.invokeElsewhere(message, call) }
        // Messages that the handler sends inherit from the message that it handles. This value of the loop is
        // cheaper than a task-local value.
        let outer = shard.exchangeHandledMessage(HandledMessage(message))
        defer { shard.exchangeHandledMessage(outer) }
        do {
            return .replied(try call(self, message))
        } catch {
            return .failed(self.failure(error, of: message))
        }
    }

    /// Calls a handler that cannot suspend, unless the handler is unregistered or the message's deadline has
    /// passed.
    ///
    /// The message has possibly waited since the handler was found. See ``invoke(_:_:)`` for the conditions.
    func handle(_ message: Message) -> Outcome {
        if let error = self.rejection(of: message) { return .failed(error.at(self)) }
        return self.invoke(message) { try $0.callBoxed($1) }
    }

    /// Calls a handler on a loop that does not belong to the bus, with a task-local value in place of the
    /// loop's value.
    @inline(never)
    private func invokeElsewhere(
        _ message: Message,
        _ call: (Handler, Message) throws -> (any Sendable)?
    ) -> Outcome {
        DeliveryContext.run(in: DeliveryContext(ContextRecord(message, inside: nil))) {
            do {
                return .replied(try call(self, message))
            } catch {
                return .failed(self.failure(error, of: message))
            }
        }
    }

    /// Calls the code of a handler that cannot suspend, and stores a value of the expected type unboxed.
    ///
    /// Returns the value in a box if the code has another type or a return URL also receives the value;
    /// otherwise nil.
    @inlinable
    @inline(__always)
    func call<Value: Sendable>(_ message: Message, storing value: inout Value?) throws -> (any Sendable)? {
        guard Value.self != Reply.self, let code = self.synchronous,
            type(of: code) == SynchronousBody<Value>.self
        else { return try self.callBoxed(message) }
        // The condition above has compared the types. A checked cast would also retain the object, which
        // costs time.
        let answer = try unsafe unsafeDowncast(code, to: SynchronousBody<Value>.self).call(message)
        value = answer
        return message.hasReturnURL ? answer : nil
    }

    @usableFromInline
    func callBoxed(_ message: Message) throws -> any Sendable {
        guard let code = self.synchronous else {
            preconditionFailure("internal error: a handler that may suspend was called in place")
        }
        return try code.callBoxed(message)
    }

    /// Runs a handler in the calling task, which is isolated to the handler's actor.
    nonisolated(nonsending) func run(_ message: Message) async -> Outcome {
        guard case .suspending(let code) = self.code else {
            return self.invoke(message) { try $0.callBoxed($1) }
        }
        assert(
            code.isolation.eventLoop === self.mailbox.eventLoop,
            "`eventLoop` of \(type(of: code.isolation)) has changed since it was registered"
        )
        do {
            return .replied(try await code.run(message))
        } catch {
            return .failed(self.failure(error, of: message))
        }
    }

    /// The actor of the handler's task.
    var isolation: any LoopBound {
        if case .suspending(let code) = self.code { code.isolation } else { self.mailbox }
    }

    /// Returns the error of a message whose handler threw.
    @inline(never)
    func failure(_ error: any Error, of message: Message) -> RoutingError {
        if let reason = self.reason(for: error, of: message) { return reason.at(self) }
        let url = message.parameters.url
        let own: RoutingError = self.isConnector ? .thrown(error, at: url) : .thrown(error, byHandlerOf: url)
        return own.at(self)
    }

    /// Returns the bus's own reason for an error, or nil when the handler or a middleware caused the error.
    ///
    /// After the deadline, the reason is always `deadlineExceeded`. When the handler is unregistered, the bus
    /// cancels the running handler, which then often throws a `CancellationError`. The reason is then the end
    /// of the registration and not the cancellation.
    func reason(for error: any Error, of message: Message) -> RoutingError? {
        let url = message.parameters.url
        if message.expiry.hasPassed(by: self.core.time) { return .deadlineExceeded(url: url) }
        return error is CancellationError && Task.isCancelled && self.isGone ? self.retirementError(url) : nil
    }
}

/// The code of a handler that cannot suspend, and the type of the value that the code returns.
///
/// A caller that expects this type calls the body directly, so that the value is neither boxed nor cast.
@usableFromInline
final class SynchronousBody<Value: Sendable>: SynchronousCode {
    @usableFromInline let body: @Sendable (Message) throws -> Value

    @inlinable
    init(_ body: @escaping @Sendable (Message) throws -> Value) { self.body = body }

    @inlinable
    @inline(never)  // If this method were inlined, the closure would be retained for the call.
    func call(_ message: Message) throws -> Value { try self.body(message) }

    @usableFromInline var replyType: (any Any.Type)? { Value.self }

    @usableFromInline
    func callBoxed(_ message: Message) throws -> any Sendable { try self.body(message) }
}
