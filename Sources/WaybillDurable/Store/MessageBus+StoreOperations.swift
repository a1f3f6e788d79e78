#if Durable
public import Waybill
public import WaybillRouting

extension MessageBus {
    /// Registers routes that look into a store, retry and drop its dead letters, while the program runs.
    ///
    /// ```swift
    /// try bus.registerOperations(of: store, at: "app://store")
    /// try bus.expose("app://store/**", for: .calls)
    /// ```
    ///
    /// | URL | parameters, all optional | value |
    /// | --- | --- | --- |
    /// | `app://store/statistics` | | ``DurableStatistics`` |
    /// | `app://store/messages` | `state`, `matching`, `id`, `after`, `limit` | array of ``DurableRecord`` |
    /// | `app://store/schedules` | | array of ``DurableSchedule`` |
    /// | `app://store/check` | | array of texts, one for each problem |
    /// | `app://store/retry` | `matching`, `id` | number of messages |
    /// | `app://store/drop` | `matching`, `id` | number of messages |
    ///
    /// Each route calls the method of ``DurableStore`` with its name, and has the parameters of that method.
    /// `limit` is 100 unless the message sets it, and at most 1,000. A failure of the store is `refused`, with
    /// the sentence of the store.
    ///
    /// Peers reach these routes only if the program exposes them. A record contains the values of its message,
    /// so expose the routes to operators only. To let operators look without acting, expose
    /// `app://store/statistics`, `app://store/messages` and `app://store/schedules` one by one. The command
    /// `waybill store --connect` calls the exposed routes.
    ///
    /// The bus retains the store while the routes are registered. This method can be called from any thread,
    /// before and after `attach(_:)`.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - url: The URL of which the routes are children. Two stores of a bus need two URLs.
    ///   - fileID: The source file of the registration, for the message of a conflict.
    ///   - line: The source line of the registration, for the message of a conflict.
    /// - Returns: The registrations of the routes.
    /// - Throws: `invalidPattern`, `conflict` or `shutDown`. No route is then registered.
    @discardableResult
    public func registerOperations(
        of store: DurableStore,
        at url: String = "app://store",
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> [Registration] {
        var registrations: [Registration] = []
        func add<Value: Sendable>(
            _ name: String,
            _ operation: @escaping @Sendable (Message) async throws -> Value
        ) throws(RoutingError) {
            let registration = try self.register("\(url)/\(name)", fileID: fileID, line: line) { message in
                try await refusing { try await operation(message) }
            }
            registrations.append(registration)
        }
        do throws(RoutingError) {
            try add("statistics") { _ in try await store.statistics() }
            try add("messages") { message in
                try await store.messages(
                    in: try message.argument("state"),
                    matching: try message.argument("matching"),
                    id: try message.argument("id"),
                    after: try message.parameters.value("after") ?? 0,
                    limit: min(1_000, try message.parameters.value("limit") ?? 100)
                )
            }
            try add("schedules") { _ in try await store.schedules() }
            try add("check") { _ in try await store.check() }
            try add("retry") { message in
                try await store.retry(
                    matching: try message.argument("matching"),
                    id: try message.argument("id")
                )
            }
            try add("drop") { message in
                try await store.drop(
                    matching: try message.argument("matching"),
                    id: try message.argument("id")
                )
            }
        } catch {
            for registration in registrations { registration.cancel() }
            throw error
        }
        return registrations
    }
}

/// Runs an operation, and refuses its message with the sentence of a failure, which a peer then receives.
private func refusing<Value: Sendable>(_ operation: () async throws -> Value) async throws -> Value {
    do {
        return try await operation()
    } catch let error as DurableError {
        throw RoutingError.refused(error.message, cause: error)
    } catch let error as RoutingError where error.code == .invalidPattern {
        throw RoutingError.refused(error.message, cause: error)
    }
}
#endif
