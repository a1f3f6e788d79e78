internal import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Routes a URL and waits for the reply's value.
    ///
    /// ```swift
    /// let user: User = try await bus.route("app://user/detail?uid=1")
    /// ```
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - as: the value's type, where it does not follow from the context; a caller that asks for `Void`
    ///     discards it.
    /// - Returns: what the handler returned.
    /// - Throws: the reason that there is no value: `noRoute` if no pattern matches, `noHandler` if no
    ///   handler is registered, `deadlineExceeded` if it is slow, `handlerFailed` if it threw, or another
    ///   code that says what happened; and `typeMismatch`, naming both types, if the reply carries another
    ///   type.
    @inlinable
    public nonisolated(nonsending) func route<Value: Sendable>(
        _ url: String,
        as: Value.Type = Value.self
    ) async throws(RoutingError) -> Value {
        var value: Value?
        let delivery = self.deliver(url) { handler, message in try handler.call(message, storing: &value) }
        if let value { return value }
        return try await self.value(of: delivery, as: Value.self, url: url)
    }

    /// Routes a URL with more than the URL says, and waits for the reply.
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - parameters: values that join those of the URL and win over them; anything `Sendable`, closures
    ///     included.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when to stop waiting; inside a handler, the deadline of its message holds too.
    ///   - timeout: how long to wait, by the bus's clock; of deadline and timeout the earlier one holds, and
    ///     a timeout that is not positive is up at once.
    /// - Returns: the reply, with the value and the message's ID.
    /// - Throws: what ``route(_:as:)`` throws.
    @_disfavoredOverload  // or a caller that asks for `any Sendable` would get the reply as one
    @discardableResult
    public nonisolated(nonsending) func route(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        timeout: Duration? = nil
    ) async throws(RoutingError) -> Reply {
        let request = Request(
            url: url,
            parameters: parameters,
            headers: headers,
            deadline: deadline,
            timeout: timeout,
            by: self.core.time
        )
        return try await self.core.route(request).reply(from: url)
    }

    /// Routes a URL with more than the URL says, and waits for the reply's value.
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - parameters: values that join those of the URL and win over them; anything `Sendable`, closures
    ///     included.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when to stop waiting; inside a handler, the deadline of its message holds too.
    ///   - timeout: how long to wait, by the bus's clock; of deadline and timeout the earlier one holds, and
    ///     a timeout that is not positive is up at once.
    ///   - as: the value's type, where it does not follow from the context.
    /// - Returns: what the handler returned.
    /// - Throws: what ``route(_:as:)`` throws.
    @inlinable
    public nonisolated(nonsending) func route<Value: Sendable>(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: consuming ContinuousClock.Instant? = nil,
        timeout: Duration? = nil,
        as: Value.Type = Value.self
    ) async throws(RoutingError) -> Value {
        var value: Value?
        let delivery = self.deliver(
            url,
            parameters: parameters,
            headers: headers,
            deadline: deadline,
            timeout: timeout
        ) { handler, message in
            try handler.call(message, storing: &value)
        }
        if let value { return value }
        return try await self.value(of: delivery, as: Value.self, url: url)
    }

    /// Routes a call of a service.
    @inlinable
    nonisolated(nonsending) func route<Value: Sendable>(
        _ url: String,
        _ arguments: ServiceArguments,
        timeout: Duration?,
        as: Value.Type
    ) async throws(RoutingError) -> Value {
        var value: Value?
        let delivery = self.deliver(url, arguments: arguments.values, timeout: timeout) { handler, message in
            try handler.call(message, storing: &value)
        }
        if let value { return value }
        return try await self.value(of: delivery, as: Value.self, url: url)
    }

    /// Sends a message that no caller awaits.
    ///
    /// Messages are handled after the caller has continued, in the order sent. A message that fails is a dead
    /// letter: a warning in the log that names the URL and the reason. What a handler sends inherits the
    /// deadline of the message that it handles: when that passes, it is not begun any more, or cancelled.
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - parameters: values that join those of the URL and win over them.
    ///   - headers: text for the infrastructure, beside the parameters.
    public func send(_ url: String, parameters: [String: any Sendable] = [:], headers: [String: String] = [:])
    {
        if parameters.isEmpty, headers.isEmpty {
            self.core.send(Request(url: url))
        } else {
            self.core.send(
                Request(url: url, parameters: parameters, headers: headers, by: self.core.time)
            )
        }
    }
}

// What the verbs call, which are inlined into the program, where the type of the value is known.
extension MessageBus {
    /// Delivers a message that is no more than its URL, as far as that goes without suspending.
    @usableFromInline
    func deliver(_ url: String, _ call: (Handler, Message) throws -> (any Sendable)?) -> Delivery {
        self.deliver(Request(url: url), call)
    }

    /// Delivers a message with more than a URL, as far as that goes without suspending.
    @usableFromInline
    func deliver(
        _ url: String,
        parameters: [String: any Sendable],
        headers: [String: String],
        deadline: consuming ContinuousClock.Instant?,
        timeout: Duration?,
        _ call: (Handler, Message) throws -> (any Sendable)?
    ) -> Delivery {
        let request = Request(
            url: url,
            parameters: parameters,
            headers: headers,
            deadline: deadline,
            timeout: timeout,
            by: self.core.time
        )
        return self.deliver(request, call)
    }

    /// Delivers a call of a service, as far as that goes without suspending.
    @usableFromInline
    func deliver(
        _ url: String,
        arguments: PassedValues?,
        timeout: Duration?,
        _ call: (Handler, Message) throws -> (any Sendable)?
    ) -> Delivery {
        var request = Request(url: url, passed: arguments)
        request.limit(to: timeout, by: self.core.time)
        return self.deliver(request, call)
    }

    @inline(__always)
    private func deliver(
        _ request: consuming Request,
        _ call: (Handler, Message) throws -> (any Sendable)?
    ) -> Delivery {
        self.core.deliverHere(request, call)
    }

    /// Waits for the outcome of a message, and returns its value as the type that the caller asks for.
    @usableFromInline
    nonisolated(nonsending) func value<Value: Sendable>(
        of delivery: Delivery,
        as type: Value.Type,
        url: String
    ) async throws(RoutingError) -> Value {
        try self.value(of: await self.core.result(of: delivery), as: type, url: url)
    }

    /// Returns the value of a message that has ended; for a caller that asks for the reply, the reply.
    ///
    /// - Throws: The failure, or `typeMismatch` with the route of the URL.
    func value<Value: Sendable>(
        of result: DeliveryResult,
        as type: Value.Type,
        url: String
    ) throws(RoutingError) -> Value {
        if Value.self == Reply.self, let reply = try result.reply(from: url) as? Value { return reply }
        if case .success(let box) = result.outcome.result, let value = unbox(box, as: type) { return value }
        do throws(RoutingError) {
            return try result.outcome.value(as: type, url: url)
        } catch {
            guard error.code == .typeMismatch, error.route == nil else { throw error }
            throw error.at(self.core.registry.resolve(url, nil, on: nil).target.handler)
        }
    }
}

extension BusCore {
    /// Delivers a request as far as that goes without suspending, if the caller is on a loop of the bus whose
    /// budget lasts.
    ///
    /// One delivery is counted against what the loop may do before it polls.
    @inline(__always)
    func deliverHere(
        _ request: consuming Request,
        by access: PeerAccess? = nil,
        _ call: (Handler, Message) throws -> (any Sendable)? = { try $0.callBoxed($1) }
    ) -> Delivery {
        let primary = BorrowedShard(self.primaryShard)
        if primary.admitsDelivery() {
            return self.deliver(request.inheriting(on: primary), on: primary, call)
        }
        return self.deliverElsewhere(request, by: access, call)
    }

    @inline(never)
    private func deliverElsewhere(
        _ request: consuming Request,
        by access: PeerAccess?,
        _ call: (Handler, Message) throws -> (any Sendable)?
    ) -> Delivery {
        guard let shard = self.otherShard(where: { $0.heldLoop.admitsDelivery() }) else {
            return .unadmitted(PendingRequest(request, by: access, on: self))
        }
        return self.deliver(request.inheriting(on: shard), on: shard, call)
    }
}

extension Handler {
    /// Calls the code of a handler that cannot suspend, for a caller that asks for a type.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - value: Gets the value, neither boxed nor cast, if the handler returns that type.
    /// - Returns: The value in a box if it is of another type or goes to a return URL; else nil.
    /// - Throws: What the handler throws.
    @inlinable
    @inline(__always)
    func call<Value: Sendable>(_ message: Message, storing value: inout Value?) throws -> (any Sendable)? {
        guard Value.self != Reply.self, let code = self.immediate, type(of: code) == ImmediateBody<Value>.self
        else { return try self.callBoxed(message) }
        // The type has been compared. A cast that compares it as well retains the object.
        let answer = try unsafe unsafeDowncast(code, to: ImmediateBody<Value>.self).call(message)
        value = answer
        return message.hasReturnURL ? answer : nil
    }
}
