#if Macros && Foundation

import Testing
import Waybill

@Suite
struct ClosureArgumentTests {
    private typealias To = Warehouse.urls

    private func opened() async throws -> MessageBus {
        let bus = MessageBus()
        try await bus.install { Warehouse() }
        return bus
    }

    @Test
    func `closures go with a typed URL as they would with a call`() async throws {
        let bus = try await self.opened()
        let witness = Witness()
        let paid = try await bus.route(
            To.pay(total: 42, paySuccess: { $0 + "!" }, payCancel: { await witness.see("cancel") })
        )
        #expect(paid == "paid 42!")
        #expect(
            try await bus.route(
                To.pay(total: 0, paySuccess: { $0 }, payCancel: { await witness.see("cancel") })
            ) == "cancelled"
        )
        #expect(await witness.seen == ["cancel"])
        #expect(try await bus.route(To.now { $0 + 1 }) == 2)
    }
}

#endif
