package import Waybill
package import WaybillDurable

/// Ships orders, each exactly once, even if the process is killed.
///
/// The messages to this module are durable: a store keeps them in a file until they have been handled.
@Module("app://parcels")
package actor ParcelsModule {
    private let store: DurableStore
    private let onAttempt: @Sendable (_ order: Int, _ attempt: Int) -> Void

    /// Creates the module.
    ///
    /// - Parameters:
    ///   - store: The store with the table of the parcels.
    ///   - onAttempt: Runs before an order is shipped, with the number of the attempt.
    package init(_ store: DurableStore, onAttempt: @escaping @Sendable (_ order: Int, _ attempt: Int) -> Void)
    {
        self.store = store
        self.onAttempt = onAttempt
    }

    /// Creates the table of the parcels, unless it exists.
    package static func createTable(in transaction: DurableTransaction) throws {
        try transaction.execute("CREATE TABLE IF NOT EXISTS parcels (order_number INTEGER)")
    }

    /// Ships an order.
    ///
    /// The parcel and the end of the message are one commit.
    @Route func ship(order: Int, message: Message) async throws {
        self.onAttempt(order, message.attempt ?? 1)
        try await message.complete { transaction in
            try transaction.execute("INSERT INTO parcels (order_number) VALUES (?)", order)
        }
    }

    /// Returns the number of parcels of an order.
    @Route func count(order: Int) async throws -> Int {
        let rows = try await self.store.transaction { transaction in
            try transaction.query("SELECT count(*) AS count FROM parcels WHERE order_number = ?", order)
        }
        return rows.first?["count"]?.int ?? 0
    }
}
