/// Keeps orders and receipts when the shop is closed.
///
/// The modules do not know what keeps them, so that they need no database.
public protocol ShopStorage: Sendable {
    /// Saves an order, which replaces an older state of it.
    func save(_ order: Order) async throws

    /// Saves a receipt, which replaces an older state of it.
    func save(_ receipt: Receipt) async throws
}
