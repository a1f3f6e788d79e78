public import WaybillRouting

extension MessageBus {
    /// Routes a URL, waits for the reply's value, and throws an error that the module declares as itself.
    ///
    /// ```swift
    /// do {
    ///     let order: Order = try await bus.route("app://orders/7", throwing: OrderError.self)
    /// } catch let error as OrderError {
    ///     print(error.message)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - url: The URL of the handler; a URL without a scheme has the default scheme.
    ///   - failure: The type of the declared error.
    ///   - parameters: Values that join those of the URL and win over them.
    ///   - headers: Text for the infrastructure, beside the parameters.
    ///   - deadline: When to stop waiting and cancel the handler.
    ///   - timeout: How long to wait, by the bus's clock.
    ///   - type: The type of the value.
    /// - Returns: The value of the reply.
    /// - Throws: The declared error when the handler throws it, and else a `RoutingError` as
    ///   ``route(_:as:)`` does.
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
}
