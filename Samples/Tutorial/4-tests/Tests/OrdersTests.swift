import Testing
import Waybill
import WaybillTesting

@testable import Cafe

@Suite struct OrdersTests {
    private let clock = ManualClock()
    private let bus: MessageBus

    init() async throws {
        self.bus = MessageBus(clock: self.clock)
        try await self.bus.install { Orders() }
    }

    @Test func `placing an order asks the menu for the price`() async throws {
        let recorder = MessageRecorder(on: self.bus)
        try self.bus.stub("app://menu/price", .value(300))

        let order: String = try await self.bus.route("app://orders/place?drink=tea&count=2")

        #expect(order == "order 1: 2 x tea, 600 cents")
        #expect(try recorder.messages(to: "app://menu/price").count == 1)
    }

    @Test func `placing an order fails when the menu does not answer in time`() async throws {
        let (bus, clock) = (self.bus, self.clock)
        let menu = try bus.stub("app://menu/price", .never)

        let order = Task { () throws(RoutingError) in
            try await bus.route(
                "app://orders/place?drink=tea",
                deadline: clock.now + .seconds(5),
                as: String.self
            )
        }
        await menu.called()
        await clock.advance(by: .seconds(5))

        let error = await #expect(throws: RoutingError.self) { try await order.value }
        #expect(error?.code == .deadlineExceeded)
    }
}
