public import WaybillRouting

extension MessageBus {
    /// Routes a URL and waits for the reply.
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - parameters: values that join those of the URL and win over them; anything `Sendable`, closures included.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when to stop waiting; inside a handler, the deadline of its message holds too.
    /// - Returns: the reply, with the value and the message's ID.
    /// - Throws: the reason that there is no reply: `noRoute` if nobody is there, `deadlineExceeded` if somebody is
    ///   slow, `handlerFailed` if somebody failed, or another code that says what happened.
    @discardableResult
    public nonisolated(nonsending) func route(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil
    ) async throws(RoutingError) -> Reply {
        let extras = MessageExtras.make(headers: headers, deadline: deadline)
        let request = Request(url: url, parameters: parameters, extras: extras)
        let attempt = self.core.attempt(request)
        if case .replied(let id, let value) = attempt {
            return Reply(correlationID: id, value: value, url: url, isLast: true)
        }
        let delivered = await self.core.route(request, after: attempt)
        switch delivered.outcome {
        case .replied(let value): return Reply(correlationID: delivered.id, value: value, url: url, isLast: true)
        case .failed(let error): throw error
        }
    }

    /// Routes a URL and waits for the reply's value.
    ///
    /// ```swift
    /// let user: User = try await bus.route("app://user/detail?uid=1")
    /// ```
    ///
    /// Parameters and errors are those of ``route(_:parameters:headers:deadline:)``.
    ///
    /// - Parameter as: the value's type, where it does not follow from the context.
    /// - Throws: `typeMismatch` besides, naming both types, if the reply carries another type.
    public nonisolated(nonsending) func route<Value: Sendable>(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        as: Value.Type = Value.self
    ) async throws(RoutingError) -> Value {
        let extras = MessageExtras.make(headers: headers, deadline: deadline)
        let request = Request(url: url, parameters: parameters, extras: extras)
        let attempt = self.core.attempt(request)
        if case .replied(_, let value) = attempt, let value = value as? Value { return value }
        return try await self.core.route(request, after: attempt).outcome.value(as: Value.self, url: url)
    }

    /// Sends a message that nobody awaits.
    ///
    /// It is handled after the caller has gone on, in the order sent. A message that comes to nothing is a dead letter:
    /// a warning in the log that names the URL and the reason.
    public func send(_ url: String, parameters: [String: any Sendable] = [:], headers: [String: String] = [:])
    {
        self.core.send(
            Request(url: url, parameters: parameters, extras: .make(headers: headers, deadline: nil))
        )
    }
}
