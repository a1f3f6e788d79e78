public import WaybillRouting

extension MessageBus {
    /// Routes a URL whose parameters the compiler has checked, and waits for the reply's value.
    ///
    /// - Throws: The errors of ``route(_:as:)``, and `invalidParameter` for a value that cannot be written
    ///   into the URL.
    @inlinable
    public nonisolated(nonsending) func route<Value: Sendable>(
        _ url: TypedURL<Value>
    ) async throws(RoutingError) -> Value {
        if url.isText { return try await self.route(url.text(), as: Value.self) }
        return try await self.route(url.text(), parameters: url.parameters, as: Value.self)
    }

    /// Routes a typed URL with headers or a deadline, and waits for the reply's value.
    ///
    /// ``route(_:parameters:headers:deadline:timeout:as:)`` describes the headers, the deadline and the
    /// timeout. The errors are the errors of ``route(_:)-(TypedURL<Value>)``.
    public nonisolated(nonsending) func route<Value: Sendable>(
        _ url: TypedURL<Value>,
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        timeout: Duration? = nil
    ) async throws(RoutingError) -> Value {
        try await self.route(
            url.text(),
            parameters: url.parameters,
            headers: headers,
            deadline: deadline,
            timeout: timeout,
            as: Value.self
        )
    }

    /// Sends a message to a typed URL without waiting for a reply.
    ///
    /// If a value cannot be written into the URL, the message becomes a dead letter.
    public func send<Value>(_ url: TypedURL<Value>, headers: [String: String] = [:]) {
        let (core, parameters) = (self.core, url.parameters)
        do throws(RoutingError) {
            self.send(try url.text(), parameters: parameters, headers: headers)
        } catch {
            let request = Request(url: error.url, parameters: parameters, headers: headers, by: core.time)
            core.fail(request, error, for: .nobody)
        }
    }
}
