/// Keeps orders and receipts when the shop is closed.
///
/// The modules know only this protocol, so that they need no database.
public protocol ShopStorage: Sendable {
    /// Saves an order, and replaces its older state.
    func save(_ order: Order) async throws

    /// Saves a receipt, and replaces its older state.
    func save(_ receipt: Receipt) async throws

    /// Deletes a receipt whose payment was rejected.
    func delete(_ receipt: Receipt) async throws
}
