internal import Accounts
internal import Activity
internal import ArgumentParser
internal import Carriers
internal import Cart
internal import Catalog
internal import Orders
internal import Payments
internal import Waybill

/// The modules of the shop: seven actors with `@Module`, and a carrier that does not import Waybill.
///
/// This is the only file that imports all modules. The shop also runs without one of them. The URLs of the
/// missing module then fail with `noRoute`.
enum ShopModule: String, CaseIterable, Sendable, ExpressibleByArgument {
    case accounts, catalog, cart, orders, payments, activity, shipping, parcels

    /// Installs the module.
    ///
    /// - Parameters:
    ///   - bus: The bus of the shop.
    ///   - file: The file that keeps the orders, receipts and parcels; nil to forget the orders and receipts,
    ///     and to ship no parcels.
    /// - Throws: An error of the catalogue or of the file.
    func install(on bus: MessageBus, file: ShopFile?) async throws {
        switch self {
        case .accounts: try await bus.install { AccountsModule() }
        case .catalog: try await bus.install { try CatalogModule() }
        case .cart: try await bus.install { CartModule() }
        case .orders:
            let orders = try await file?.orders() ?? []
            try await bus.install { OrdersModule(orders, keptIn: file) }
        case .payments:
            let receipts = try await file?.receipts() ?? []
            try await bus.install { PaymentsModule(receipts, keptIn: file) }
        case .activity: try await bus.install { ActivityModule() }
        case .shipping: try Carrier().join(bus)
        case .parcels: try await file?.installParcels(on: bus)
        }
    }

    /// The patterns of the URLs with which other processes call the module.
    var urls: [String] {
        let own = "app://\(self.rawValue)/**"
        return self == .accounts ? [own, "app://customers/**"] : [own]
    }
}
