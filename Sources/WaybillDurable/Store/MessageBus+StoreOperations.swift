#if Durable
public import Waybill
public import WaybillRouting

extension MessageBus {
    /// Registers and returns routes by which operators read a store, and retry and drop its dead letters.
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
    /// Each route calls the method of ``DurableStore`` with the route's name, and has the parameters of that
    /// method. `limit` is 100 unless the message sets it, and at most 1,000. The JSON of `messages` has at
    /// most 4 MiB; if one message is larger, its `details` contain only the size of its values. If the store
    /// fails, the route fails with `refused` and the error message of the store.
    ///
    /// A record contains the values of its message, so expose the routes only to operators. To let operators
    /// read the store without changing it, do not expose `app://store/retry` and `app://store/drop`.
    ///
    /// The bus retains the store while the routes are registered. If a bus has two stores, the stores need
    /// different URLs. This method can be called from any thread, before or after `attach(_:)`.
    ///
    /// - Throws: `invalidPattern`, `conflict` or `shutDown`; after an error, no route is registered.
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
                do {
                    return try await operation(message)
                } catch let error as DurableError {
                    // Callers in other processes receive the text of `refused`.
                    throw RoutingError.refused(error.message, cause: error)
                } catch let error as RoutingError where error.code == .invalidPattern {
                    throw RoutingError.refused(error.message, cause: error)
                }
            }
            registrations.append(registration)
        }
        do throws(RoutingError) {
            try add("statistics") { _ in try await store.statistics() }
            try add("messages") { message in
                let size = 4 << 20
                let policies = store.engine.settings.policies
                var search = MessageSearch(sizeLimit: size)
                search.state = try message.argument("state")
                search.scope = try policies.scope(of: try message.argument("matching"))
                search.id = try message.argument("id")
                search.previous = try message.parameters.value("after") ?? 0
                search.limit = min(1_000, try message.parameters.value("limit") ?? 100)
                return try await store.messages(search).map { $0.shortened(to: size) }
            }
            try add("schedules") { _ in try await store.schedules() }
            try add("check") { _ in try await store.check() }
            try add("retry") {
                try await store.retry(matching: $0.argument("matching"), id: $0.argument("id"))
            }
            try add("drop") { try await store.drop(matching: $0.argument("matching"), id: $0.argument("id")) }
        } catch {
            for registration in registrations { registration.cancel() }
            throw error
        }
        return registrations
    }
}
#endif
