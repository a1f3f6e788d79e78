internal import WaybillEventLoop

extension MessageBus {
    /// The messages whose handlers wait for the calling code to end.
    ///
    /// What must not wait for itself looks here: a task that a handler makes by `Task { }` is waited for by
    /// none.
    package static var waitingMessages: Set<CorrelationID> { DeliveryContext.waiting?.messages ?? [] }

    /// Runs code as the handler of a message, where the caller is isolated, so that what it awaits on the bus
    /// has that message among its ``waitingMessages``.
    ///
    /// - Parameter body: gets the message's ID.
    /// - Returns: what `body` returns.
    package nonisolated(nonsending) func withMessageID<Result>(
        _ body: (CorrelationID) async throws -> Result
    ) async rethrows -> Result {
        let outer = DeliveryContext.waiting
        let id = self.core.statistics.nextID()
        let record = ContextRecord(
            hops: outer?.hops ?? DeliveryContext.current?.hops ?? 0,
            expiry: outer?.expiry ?? .never,
            id: id,
            exchange: outer?.exchanges.first,
            outer: outer
        )
        return try await DeliveryContext.with(.record(record), isolation: #isolation) { try await body(id) }
    }

    /// A face of this bus for what the bus itself holds, which does not keep it open.
    package var unowned: MessageBus { MessageBus(sharing: self.core) }
}
