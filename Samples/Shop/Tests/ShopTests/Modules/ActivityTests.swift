import ShopAPI
import Testing

@testable import Activity

@Suite
struct ActivityTests {
    @Test func `the activity log keeps the last thousand entries`() {
        var log = ActivityLog()
        for number in 1...2_500 { log.append("entry \(number)") }
        #expect(log.recent(3).map(\.text) == ["entry 2498", "entry 2499", "entry 2500"])
        #expect(log.recent(.max).map(\.number) == Array(1_501...2_500))
        #expect(log.recent(-1).isEmpty && ActivityLog().recent(5).isEmpty)
    }

    @Test func `the messages of the modules are recorded in order`() async throws {
        let shop = try await OpenShop()
        _ = try await shop.orderKettle()
        let entries: [ActivityEntry] = try await shop.ask("app://activity/recent")
        #expect(
            entries.map(\.text) == [
                "Lili signed in", "Lili put 1 x Copper Kettle 1.2 l into the cart",
                "Lili placed order 1 for 54.90",
            ]
        )
    }
}
