import ShopAPI
import Testing
import Waybill

@testable import Shop

@Suite
struct ExampleTests {
    @Test func `every example of the shop works when all run in order`() async throws {
        let shop = try await OpenShop()
        // The customer is signed in already, and can pay once.
        let urls = Example.all.map(\.url).filter { !$0.contains("sign-in") && !$0.contains("#") }
        for url in urls {
            if url == "app://orders/place" {
                try await shop.ask("app://cart/add?product=copper-kettle", as: CartContents.self)
            }
            let parameters: [String: any Sendable] = ["session": shop.session, "confirm": true]
            await #expect(throws: Never.self, "\(url)") {
                try await shop.bus.route(url, parameters: parameters)
            }
        }
    }

    @Test func `every example of the shop has a route`() async throws {
        let bus = try await Storefront().bus
        for example in Example.all { #expect(bus.canRoute(example.url), "\(example.url)") }
    }
}
