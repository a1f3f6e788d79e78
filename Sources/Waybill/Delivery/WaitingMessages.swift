internal import WaybillEventLoop

extension MessageBus {
    /// The IDs of the messages whose handlers wait for the calling code to end.
    ///
    /// Code that could wait for itself, and so never continue, checks this set. A handler does not wait for a
    /// task that it creates with `Task { }`, so the set is empty in that task.
    package static var waitingMessages: Set<CorrelationID> { DeliveryContext.waiting?.messages ?? [] }

    /// Runs code as the handler of a message, with the isolation of the caller.
    ///
    /// Within the code, ``waitingMessages`` contains the ID of the message.
    ///
    /// - Parameter body: A closure that receives the ID of the message.
    /// - Returns: The result of `body`.
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
        return try await DeliveryContext.run(in: .record(record), isolation: #isolation) {
            try await body(id)
        }
    }

    /// A second handle of this bus, for objects that the bus retains.
    ///
    /// The second handle does not keep the bus open.
    package var unowned: MessageBus { MessageBus(sharing: self.core) }
}
