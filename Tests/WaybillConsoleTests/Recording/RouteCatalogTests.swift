#if HTTP
import Testing
import Waybill
import WaybillTestSupport

@testable import WaybillConsole

/// A module whose route replaces the route of a closure.
private actor Kiosk: Waybill.Module {
    static let url = "app://news"
    nonisolated let context = ModuleContext.current

    static var routes: [ModuleRoute<Kiosk>] {
        [ModuleRoute("app://news/today", action: "today") { _, _ in 2 }]
    }
}

@Suite
struct RouteCatalogTests {
    @Test func `the route catalog names the module that has taken over a pattern`() async throws {
        let bus = MessageBus(configuration: .quiet)
        let catalog = RouteCatalog(bus)
        let pattern = "app://news/today"
        let registration = try bus.register(pattern) { _ in 1 }
        catalog.update(bus)
        #expect(catalog.module(of: pattern) == nil)
        registration.cancel()
        try await bus.install { Kiosk() }
        catalog.update(bus)
        #expect(catalog.module(of: pattern) == "Kiosk")
    }
}
#endif
