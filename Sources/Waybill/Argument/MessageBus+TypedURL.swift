public import WaybillRouting

extension MessageBus {
    /// Routes a URL whose parameters the compiler has checked, and waits for the reply's value.
    ///
    /// - Parameters:
    ///   - url: where to.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when to stop waiting; inside a handler, the deadline of its message holds too.
    ///   - timeout: how long to wait, by the bus's clock; of deadline and timeout the earlier one holds, and
    ///     a timeout that is not positive is up at once.
    /// - Returns: what the handler returned.
    /// - Throws: what ``route(_:as:)`` throws, and `invalidParameter` for a value that cannot stand in the URL.
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

    /// Sends a message to such a URL that nobody awaits.
    ///
    /// A value that cannot stand in the URL makes it a dead letter, as anything else does that stands in its way.
    public func send<Value: Sendable>(_ url: TypedURL<Value>, headers: [String: String] = [:]) {
        do throws(RoutingError) {
            self.send(try url.text(), parameters: url.parameters, headers: headers)
        } catch {
            let request = Request(error.url, url.parameters, headers, by: self.core.time)
            self.core.deadLetter(request, self.core.open(), error)
        }
    }
}
