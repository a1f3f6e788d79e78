internal import Accounts
internal import Activity
internal import Carriers
internal import Cart
internal import Catalog
internal import Logging
internal import Orders
internal import Payments
internal import Waybill
internal import WaybillEventLoop

/// The whole shop: one bus, six modules on its loop, and a carrier that knows nothing of it.
///
/// This is the only place that knows all modules. Take a line away and the shop still runs; a URL of that module
/// then fails with `noRoute`.
struct Storefront {
    let bus: MessageBus

    /// Opens the shop.
    ///
    /// - Parameter conventions: how URLs are read; those of navigation for `shop browse`.
    /// - Throws: an error of the catalogue.
    init(conventions: RoutingConventions = .waybill) async throws {
        let logger = Logger(label: "shop") { _ in PlainLogHandler() }
        // A large piece of input is served in one job of the loop, which a watchdog is not to complain of.
        let loop = EventLoop(name: "shop", configuration: .init(watchdogThreshold: nil, logger: logger))
        self.bus = MessageBus(
            eventLoop: loop,
            configuration: .init(defaultScheme: "app", conventions: conventions, logger: logger)
        )
        try await self.bus.install { AccountsModule() }
        try await self.bus.install { try CatalogModule() }
        try await self.bus.install { CartModule() }
        try await self.bus.install { OrdersModule() }
        try await self.bus.install { PaymentsModule() }
        try await self.bus.install { ActivityModule() }
        try Carrier().join(self.bus)
    }
}
