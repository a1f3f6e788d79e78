internal import Foundation
internal import Parcels
internal import ShopAPI
internal import Waybill
internal import WaybillDurable

/// A file with the orders, the receipts and the parcels, and with the messages that ship the orders.
struct ShopFile: ShopStorage {
    let store: DurableStore

    /// Opens the file, and creates it if it is missing.
    init(_ path: String) async throws {
        self.store = try await DurableStore(path)
        try await self.store.transaction { transaction in
            try transaction.execute("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, text TEXT)")
            try transaction.execute("CREATE TABLE IF NOT EXISTS receipts (id INTEGER PRIMARY KEY, text TEXT)")
            try ParcelsModule.createTable(in: transaction)
        }
    }

    /// Installs the module that ships paid orders.
    ///
    /// If another process sends an order, the file of this process takes over the message.
    func installParcels(on bus: MessageBus) async throws {
        try await bus.install {
            ParcelsModule(self.store) { order, _ in
                bus.send("app://activity/log", parameters: ["text": "order \(order) is being shipped"])
            }
        }
        try bus.use(DurableReceiver(self.store), for: "app://parcels/**")
    }

    /// Closes the file after the attempts to ship orders that are underway.
    func close() async { await self.store.close() }

    /// Saves an order.
    ///
    /// A paid order and the message that ships it are one commit, so either both are on disk or neither is.
    func save(_ order: Order) async throws {
        let text = try Self.encoded(order)
        try await self.store.transaction { transaction in
            try transaction.execute("INSERT OR REPLACE INTO orders VALUES (?, ?)", order.id, text)
            if order.status == .paid {
                try transaction.send("app://parcels/ship?order=\(order.id)", key: "ship \(order.id)")
            }
        }
    }

    func save(_ receipt: Receipt) async throws {
        let text = try Self.encoded(receipt)
        try await self.store.transaction { transaction in
            try transaction.execute("INSERT OR REPLACE INTO receipts VALUES (?, ?)", receipt.order, text)
        }
    }

    func delete(_ receipt: Receipt) async throws {
        try await self.store.transaction { transaction in
            try transaction.execute("DELETE FROM receipts WHERE id = ?", receipt.order)
        }
    }

    /// Returns the orders in the file.
    func orders() async throws -> [Order] { try await self.values("SELECT text FROM orders ORDER BY id") }

    /// Returns the receipts of orders that were paid, and deletes other receipts.
    ///
    /// A receipt is saved before its order. If the payment or the process ended between the two, the order is
    /// still placed. Its receipt would allow a refund after the order has been cancelled.
    func receipts() async throws -> [Receipt] {
        let placed = Set(try await self.orders().filter { $0.status == .placed }.map(\.id))
        let receipts: [Receipt] = try await self.values("SELECT text FROM receipts ORDER BY id")
        for receipt in receipts where placed.contains(receipt.order) { try await self.delete(receipt) }
        return receipts.filter { !placed.contains($0.order) }
    }

    private func values<Value: Decodable>(_ query: String) async throws -> [Value] {
        let texts = try await self.store.transaction { transaction in
            try transaction.query(query).compactMap { $0["text"]?.text }
        }
        return try texts.map { try JSONDecoder().decode(Value.self, from: Data($0.utf8)) }
    }

    private static func encoded(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }
}
