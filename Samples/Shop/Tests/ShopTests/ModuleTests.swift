import ShopAPI
import Testing
import Waybill
import WaybillTesting

@testable import Cart
@testable import Shop

/// One module on its own bus, and all URLs of the shop by the module test case.
@Suite
struct ModuleTests {
    @Test func `the module test case finds no problem in the shop's URLs`() async throws {
        let shop = try await OpenShop()
        let lines: [CartLine] = []
        let report = try await ModuleTestCase(
            scheme: "app",
            on: shop.bus,
            values: ["name": "Lili", "id": "1", "product": "copper-kettle", "order": "1"],
            arguments: ["session": shop.session, "lines": lines, "grams": 1200]
        ).run()
        #expect(report.problems.isEmpty, "\(report)")
    }

    @Test func `the cart works with a catalogue stub and a customer service stub`() async throws {
        let bus = MessageBus()
        let recorder = MessageRecorder(on: bus)
        try await bus.install { CartModule() }
        let kettle = try await OpenShop().ask("app://catalog/product?id=copper-kettle", as: Product.self)
        try bus.stub("app://catalog/product", .value(kettle))
        let stub = Customers()
        try bus.provide((any CustomerService).self, at: "app://customers") { _ in stub }
        let contents: CartContents = try await bus.route("app://cart/add?product=copper-kettle&quantity=2")
        #expect(contents.lines.map(\.quantity) == [2])
        let note = try await recorder.wait(for: "app://activity/log")
        #expect(note.error?.code == .noRoute)
    }
}

private struct Customers: CustomerService {
    nonisolated(nonsending) func customer(session: SessionToken?) async throws -> User {
        User(id: 1, name: "Lili")
    }
}
