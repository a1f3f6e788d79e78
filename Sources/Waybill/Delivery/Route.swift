internal import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Routes a URL and waits for the value of the reply.
    ///
    /// ```swift
    /// let user: User = try await bus.route("app://user/detail?uid=1")
    /// ```
    ///
    /// - Parameters:
    ///   - url: The URL. A URL without a scheme has the default scheme.
    ///   - as: The type of the value, where the context does not determine it. `Void` discards the value.
    /// - Returns: The value that the handler returned.
    /// - Throws: `noRoute` if no pattern matches, `noHandler` if no handler is registered,
    ///   `deadlineExceeded` if no reply arrived in time, `handlerFailed` if the handler threw an error,
    ///   `typeMismatch` if the reply has another type, or another code of ``/WaybillRouting/RoutingError``.
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

    /// Routes a URL with parameters, headers or a deadline, and waits for the reply.
    ///
    /// - Parameters:
    ///   - url: The URL. A URL without a scheme has the default scheme.
    ///   - parameters: More parameters, which replace parameters of the URL with the same name. A value can
    ///     have any `Sendable` type, including closures.
    ///   - headers: Text for the infrastructure, separate from the parameters.
    ///   - deadline: The time at which to stop waiting. Inside a handler, the deadline of its message applies
    ///     as well.
    ///   - timeout: The time to wait, by the clock of the bus. The earlier of deadline and timeout applies. A
    ///     timeout that is not positive has passed immediately.
    /// - Returns: The reply, with the value and the ID of the message.
    /// - Throws: The errors of ``route(_:as:)``.
    @_disfavoredOverload  // A caller of type `any Sendable` would otherwise receive the reply itself.
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
        return try await self.core.deliverAndWait(request).reply(from: url)
    }

    /// Routes a URL with parameters, headers or a deadline, and waits for the value of the reply.
    ///
    /// The parameters are described at ``route(_:parameters:headers:deadline:timeout:)`` and
    /// ``route(_:as:)``.
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

    /// Routes a URL, waits for the value of the reply, and throws declared errors of the module unchanged.
    ///
    /// ```swift
    /// do {
    ///     let order: Order = try await bus.route("app://orders/7", throwing: OrderError.self)
    /// } catch let error as OrderError {
    ///     print(error.message)
    /// }
    /// ```
    ///
    /// `failure` is the type of the declared errors. The method also has the parameters of
    /// ``route(_:parameters:headers:deadline:timeout:as:)``. Any other failure is a `RoutingError`.
    public nonisolated(nonsending) func route<Value: Sendable, Failure: ModuleError>(
        _ url: String,
        throwing failure: Failure.Type,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        timeout: Duration? = nil,
        as type: Value.Type = Value.self
    ) async throws -> Value {
        do throws(RoutingError) {
            return try await self.route(
                url,
                parameters: parameters,
                headers: headers,
                deadline: deadline,
                timeout: timeout,
                as: type
            )
        } catch {
            if let declared = error.declared(as: failure) { throw declared }
            throw error
        }
    }

    @inlinable
    nonisolated(nonsending) func callService<Value: Sendable>(
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
    /// The bus handles the messages of a caller in the order in which the caller sent them, after the caller
    /// has continued. A message that fails becomes a dead letter, and the bus logs a warning with the URL and
    /// the reason.
    ///
    /// A message that a handler sends inherits the deadline of the handler's message. When the deadline
    /// passes, the bus cancels the handler of the message or does not begin to handle the message.
    ///
    /// - Parameters:
    ///   - url: The URL. A URL without a scheme has the default scheme.
    ///   - parameters: More parameters, which replace parameters of the URL with the same name.
    ///   - headers: Text for the infrastructure, separate from the parameters.
    public func send(_ url: String, parameters: [String: any Sendable] = [:], headers: [String: String] = [:])
    {
        // Most messages have neither parameters nor headers, and their request costs less.
        if parameters.isEmpty, headers.isEmpty {
            self.core.send(Request(url: url))
        } else {
            self.core.send(Request(url: url, parameters: parameters, headers: headers, by: self.core.time))
        }
    }

    /// Sends a message like ``send(_:parameters:headers:)``, and throws the reason if the message is a dead
    /// letter already because no mailbox accepted it.
    package func trySend(_ url: String, parameters: [String: any Sendable]) throws(RoutingError) {
        let request = Request(url: url, parameters: parameters, headers: [:], by: self.core.time)
        if let error = self.core.send(request) { throw error }
    }
}

// For callers that begin each call in its own job of a loop. The job already counts towards the loop's
// budget. A call that yielded first would be overtaken by later calls.
extension MessageBus {
    package nonisolated(nonsending) func routeAtOnce(
        _ url: String,
        parameters: [String: any Sendable],
        timeout: Duration?
    ) async throws(RoutingError) -> Reply {
        let (time, shard) = (self.core.time, self.core.currentShard)
        let request = Request(url: url, parameters: parameters, headers: [:], timeout: timeout, by: time)
        let delivery = self.core.performSteps(of: request.inheriting(on: shard), on: shard)
        return try await self.core.result(of: delivery).reply(from: url)
    }

    package nonisolated(nonsending) func publishAtOnce(
        _ url: String,
        parameters: [String: any Sendable],
        isLogged: Bool
    ) async throws(RoutingError) -> Int {
        let request = Request(url: url, parameters: parameters, headers: [:], by: self.core.time)
        do throws(RoutingError) {
            return try await self.core.publish(request, isAtOnce: true)
        } catch {
            if isLogged { self.core.log(url, error, as: "publication failed") }
            throw error
        }
    }
}

// The functions behind the methods above. The compiler inlines the methods into the program, which knows the
// type of the value. If a closure has stored the value, the methods need nothing else of the `Delivery`.
extension MessageBus {
    @usableFromInline
    func deliver(_ url: String, _ call: (Handler, Message) throws -> (any Sendable)?) -> Delivery {
        self.core.deliverHere(Request(url: url), call)
    }

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
        return self.core.deliverHere(request, call)
    }

    @usableFromInline
    func deliver(
        _ url: String,
        arguments: PassedValues?,
        timeout: Duration?,
        _ call: (Handler, Message) throws -> (any Sendable)?
    ) -> Delivery {
        var request = Request(url: url, passed: arguments)
        request.limit(to: timeout, by: self.core.time)
        return self.core.deliverHere(request, call)
    }

    /// Waits for the outcome of a message, and returns its value as the type that the caller needs.
    @usableFromInline
    nonisolated(nonsending) func value<Value: Sendable>(
        of delivery: Delivery,
        as type: Value.Type,
        url: String
    ) async throws(RoutingError) -> Value {
        try self.unboxedValue(of: await self.core.result(of: delivery), as: type, url: url)
    }

    /// Returns the value of a message that has its outcome, or the whole reply when the caller asks for a
    /// `Reply`.
    func unboxedValue<Value: Sendable>(
        of result: DeliveryResult,
        as type: Value.Type,
        url: String
    ) throws(RoutingError) -> Value {
        guard Value.self != Reply.self, result.outcome.isReply else {
            return try self.convertedValue(of: result, as: type, url: url)
        }
        return try unbox(try result.outcome.value(), as: type) { () throws(RoutingError) in
            try self.convertedValue(of: result, as: type, url: url)
        }
    }

    /// Returns a value that may need a conversion.
    ///
    /// The function is separate, because it looks up the type `Value?`, which takes long in a generic
    /// function.
    @inline(never)
    private func convertedValue<Value: Sendable>(
        of result: DeliveryResult,
        as type: Value.Type,
        url: String
    ) throws(RoutingError) -> Value {
        if Value.self == Reply.self, let reply = try result.reply(from: url) as? Value { return reply }
        do throws(RoutingError) {
            return try result.outcome.value(as: type, url: url)
        } catch {
            guard error.code == .typeMismatch, error.route == nil else { throw error }
            throw error.at(self.core.registry.resolve(url, nil, on: nil).target.handler)
        }
    }
}

extension BusCore {
    /// Delivers a request as far as possible without suspending.
    ///
    /// The delivery is postponed when the caller is not on a loop of the bus, or when the loop has used up
    /// its budget of deliveries, which it renews at each poll.
    ///
    /// `access` is nil for code of this process. The caller has already checked the access of a peer, and a
    /// postponed delivery keeps `access`, because it checks again after the caller has suspended.
    @inline(__always)
    func deliverHere(
        _ request: consuming Request,
        by access: PeerAccess? = nil,
        _ call: (Handler, Message) throws -> (any Sendable)? = { try $0.callBoxed($1) }
    ) -> Delivery {
        // Most callers are on the first loop of the bus, so try this loop first.
        let primary = BorrowedShard(self.primaryShard)
        if primary.consumeDeliveryBudgetIfOnLoop() {
            return self.performSteps(of: request.inheriting(on: primary), on: primary, call)
        }
        return self.deliverOnOtherLoopOrPostpone(request, by: access, call)
    }

    @inline(never)
    private func deliverOnOtherLoopOrPostpone(
        _ request: consuming Request,
        by access: PeerAccess?,
        _ call: (Handler, Message) throws -> (any Sendable)?
    ) -> Delivery {
        guard let shard = self.otherShard(where: { $0.heldLoop.consumeDeliveryBudgetIfOnLoop() }) else {
            return .postponed(request.inheriting(on: self.currentShard), by: access)
        }
        return self.performSteps(of: request.inheriting(on: shard), on: shard, call)
    }
}
