internal import Accounts
internal import Activity
internal import Cart
internal import Catalog
internal import Logging
internal import Orders
internal import Payments
internal import Waybill

/// The whole shop: one bus, and six modules on its loop.
///
/// This is the only place that knows all modules. Take a line away and the shop still runs; whoever needs
/// that module is told that nobody is there.
struct Storefront {
    let bus: MessageBus

    init() throws {
        let logger = Logger(label: "shop") { _ in PlainLogHandler() }
        let bus = MessageBus(configuration: .init(defaultScheme: "app", logger: logger))
        try AccountsModule(bus: bus).register()
        try CatalogModule(bus: bus).register()
        try CartModule(bus: bus).register()
        try OrdersModule(bus: bus).register()
        try PaymentsModule(bus: bus).register()
        try ActivityModule(bus: bus).register()
        self.bus = bus
    }
}
