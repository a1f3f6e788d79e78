public import WaybillRouting

extension MessageBus {
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
    /// - Parameters:
    ///   - url: The URL of the handler; a URL without a scheme has the default scheme.
    ///   - failure: The type of the declared error.
    ///   - parameters: More parameters, which replace parameters of the URL with the same name.
    ///   - headers: Text for the infrastructure, separate from the parameters.
    ///   - deadline: The time at which to stop waiting and cancel the handler.
    ///   - timeout: The time to wait, by the clock of the bus.
    ///   - type: The type of the value.
    /// - Returns: The value of the reply.
    /// - Throws: The declared error when the handler throws it. Any other failure is a `RoutingError`, as in
    ///   ``route(_:as:)``.
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
