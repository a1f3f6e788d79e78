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
        var rest: Undelivered?
        if Value.self != Reply.self, !self.isIntercepted {
            var other: OtherValue?
            rest = self.deliver(url) { handler, message in
                try self.call(handler, message, &value, &other)
            }
            if let value { return value }
            if let other { rest = .converted(other) }
            if let rest, let value = try self.value(atOnce: rest, as: Value.self, url: url) { return value }
        }
        if let rest { return try await self.value(of: rest, as: Value.self, url: url) }
        return try await self.routeOtherwise(url, as: Value.self)
    }

    /// Routes a URL for a caller that asks for the reply itself, or through middlewares.
    @inlinable
    @inline(never)
    nonisolated(nonsending) func routeOtherwise<Value: Sendable>(
        _ url: String,
        as type: Value.Type
    ) async throws(RoutingError) -> Value {
        if Value.self == Reply.self { return try await self.reply(to: url, as: Value.self) }
        return try await self.routeIntercepted(url, as: Value.self)
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
        let request = Request(url, parameters, headers, deadline, timeout, by: self.core.time)
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
        if Value.self == Reply.self {
            return try await self.reply(
                to: url,
                parameters: parameters,
                headers: headers,
                deadline: deadline,
                timeout: timeout,
                as: Value.self
            )
        }
        var value: Value?
        var other: OtherValue?
        let rest = self.deliver(url, parameters, headers, deadline, timeout) { handler, message in
            try self.call(handler, message, &value, &other)
        }
        if let value { return value }
        return try await self.value(of: rest, other, as: Value.self, url: url)
    }

    /// Routes a call of a service.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func route<Value: Sendable>(
        _ url: String,
        _ arguments: ServiceArguments,
        timeout: Duration?,
        as: Value.Type
    ) async throws(RoutingError) -> Value {
        var value: Value?
        var other: OtherValue?
        let rest =
            if arguments.isNumber, timeout == nil {
                self.deliver(url, passed: arguments.name, arguments.number) { handler, message in
                    try self.call(handler, message, &value, &other)
                }
            } else {
                self.deliver(url, arguments.values, timeout) { handler, message in
                    try self.call(handler, message, &value, &other)
                }
            }
        if let value { return value }
        return try await self.value(of: rest, other, as: Value.self, url: url)
    }

    /// The value of a request whose handler has returned none of that type, or not yet.
    @inlinable
    @inline(never)
    nonisolated(nonsending) func value<Value: Sendable>(
        of rest: Undelivered?,
        _ other: OtherValue?,
        as type: Value.Type,
        url: String
    ) async throws(RoutingError) -> Value {
        if let other { return try self.convert(other.value, to: type, url: url) }
        guard let rest else { return try self.convert((), to: type, url: url) }
        if let value = try self.value(atOnce: rest, as: type, url: url) { return value }
        return try await self.value(of: rest, as: type, url: url)
    }

    /// The reply itself, for a caller that asks for one: `let reply: Reply = try await bus.route(url)`.
    @usableFromInline
    nonisolated(nonsending) func reply<Value: Sendable>(
        to url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        timeout: Duration? = nil,
        as type: Value.Type
    ) async throws(RoutingError) -> Value {
        let request = Request(url, parameters, headers, deadline, timeout, by: self.core.time)
        let reply = try await self.core.route(request).reply(from: url)
        guard let value = reply as? Value else {
            throw .typeMismatch(url: url, wanted: type, found: reply)
        }
        return value
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
        if parameters.isEmpty, headers.isEmpty { return self.core.send(url) }
        self.core.send(Request(url, parameters, headers, by: self.core.time))
    }
}
