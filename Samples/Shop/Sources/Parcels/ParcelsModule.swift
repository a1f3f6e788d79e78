package import Waybill
package import WaybillDurable

/// Ships orders, each exactly once, even if the process is killed.
///
/// The messages to this module are durable: a store keeps them in a file until they have been handled.
@Module("app://parcels")
package actor ParcelsModule {
    private let onAttempt: @Sendable (_ order: Int, _ attempt: Int) -> Void

    /// Creates the module.
    ///
    /// - Parameter onAttempt: Runs before an order is shipped, with the number of the attempt.
    package init(onAttempt: @escaping @Sendable (_ order: Int, _ attempt: Int) -> Void) {
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
}
