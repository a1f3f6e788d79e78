internal import Logging
internal import ShopAPI
internal import Waybill
internal import WaybillDurable
internal import WaybillEventLoop

/// The shop, or a part of it: a bus, and modules on its loop.
struct Storefront {
    let bus: MessageBus

    /// Opens the shop.
    ///
    /// - Parameters:
    ///   - conventions: The URL conventions; navigation for `shop browse`.
    ///   - modules: The modules of this process.
    ///   - file: The file that keeps the orders and receipts; nil to forget them.
    /// - Throws: An error of the catalogue or of the file.
    init(
        conventions: RoutingConventions = .waybill,
        modules: [ShopModule] = ShopModule.allCases,
        file: ShopFile? = nil
    ) async throws {
        let logger = Logger(label: "shop") { _ in PlainLogHandler() }
        // A large piece of input is handled in one job of the loop, which would cause a warning of the
        // watchdog.
        let loop = EventLoop(name: "shop", configuration: .init(watchdogThreshold: nil, logger: logger))
        self.bus = MessageBus(
            eventLoop: loop,
            configuration: .init(defaultScheme: "app", conventions: conventions, logger: logger)
        )
        for module in modules { try await module.install(on: self.bus, file: file) }
        if let file { try await self.bus.attach(file.store) }
        if !modules.contains(.accounts) {
            // The accounts module is in another process, where its service has the same URL.
            try self.bus.provide((any CustomerService).self, at: "app://customers") {
                CustomerServiceProxy($0)
            }
        }
    }
}
