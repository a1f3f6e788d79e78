public import WaybillRouting

extension MessageBus {
    /// Routes a URL and waits for the reply.
    ///
    /// - Parameter url: where to; without a scheme the default scheme is meant.
    /// - Returns: the reply, with the value and the message's ID.
    /// - Throws: the reason that there is no reply: `noRoute` if nobody is there, `deadlineExceeded` if somebody is
    ///   slow, `handlerFailed` if somebody failed, or another code that says what happened.
    @discardableResult
    public nonisolated(nonsending) func route(_ url: String) async throws(RoutingError) -> Reply {
        let request = Request(url: url)
        return try await self.core.route(request).reply(from: url)
    }

    /// Routes a URL and waits for the reply's value.
    ///
    /// ```swift
    /// let user: User = try await bus.route("app://user/detail?uid=1")
    /// ```
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - as: the value's type, where it does not follow from the context; a caller that asks for `Void` discards it.
    /// - Returns: what the handler returned.
    /// - Throws: what ``route(_:)`` throws, and `typeMismatch`, naming both types, if the reply carries another type.
    @inlinable
    public nonisolated(nonsending) func route<Value: Sendable>(
        _ url: String,
        as: Value.Type = Value.self
    ) async throws(RoutingError) -> Value {
        if self.isSurrounded { return try await self.routeSurrounded(url, as: Value.self) }
        var answer = Answer<Value>()
        let pending = self.deliver(url) { handler, message in
            try answer.take(from: handler, message, on: self)
        }
        if let pending { return try await self.finish(pending, as: Value.self) }
        if let value = answer.value { return value }
        return try self.convert(answer.other, to: Value.self, url: url)
    }

    /// Routes a URL with more than the URL says, and waits for the reply.
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - parameters: values that join those of the URL and win over them; anything `Sendable`, closures included.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when to stop waiting; inside a handler, the deadline of its message holds too.
    ///   - timeout: how long to wait, by the bus's clock; of deadline and timeout the earlier one holds, and
    ///     a timeout that is not positive is up at once.
    /// - Returns: the reply, with the value and the message's ID.
    /// - Throws: what ``route(_:)`` throws.
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
    ///   - parameters: values that join those of the URL and win over them; anything `Sendable`, closures included.
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
        deadline: ContinuousClock.Instant? = nil,
        timeout: Duration? = nil,
        as: Value.Type = Value.self
    ) async throws(RoutingError) -> Value {
        var answer = Answer<Value>()
        let pending = self.deliver(url, parameters, headers, deadline, timeout) { handler, message in
            try answer.take(from: handler, message, on: self)
        }
        if let pending { return try await self.finish(pending, as: Value.self) }
        if let value = answer.value { return value }
        return try self.convert(answer.other, to: Value.self, url: url)
    }

    /// Sends a message that nobody awaits.
    ///
    /// It is handled after the caller has gone on, in the order sent. A message that comes to nothing is a dead letter:
    /// a warning in the log that names the URL and the reason. What a handler sends inherits the deadline of the
    /// message that it handles: when that passes, it is not begun any more, or cancelled.
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
