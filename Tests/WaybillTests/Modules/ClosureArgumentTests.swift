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
    func `closures can be arguments of a typed URL`() async throws {
        let bus = try await self.opened()
        let witness = Witness()
        let paid = try await bus.route(
            To.pay(total: 42, paySuccess: { $0 + "!" }, payCancel: { await witness.see("cancel") })
        )
        #expect(paid == "paid 42!")
        let cancelled = try await bus.route(
            To.pay(total: 0, paySuccess: { $0 }, payCancel: { await witness.see("cancel") })
        )
        #expect(cancelled == "cancelled")
        #expect(await witness.seen == ["cancel"])
        #expect(try await bus.route(To.now { $0 + 1 }) == 2)
    }

    @Test
    func `closures can be passed with a plain URL when their type is written completely`() async throws {
        let bus = try await self.opened()
        let paid: String = try await bus.route(
            "app://types/pay?total=42",
            parameters: [
                "paySuccess": { @Sendable (text: String) -> String in text + "!" },
                "payCancel": {} as @Sendable () async throws -> Void,
            ]
        )
        #expect(paid == "paid 42!")
        let success: @Sendable (String) -> String = { $0 + "?" }
        let cancel: @Sendable () async throws -> Void = {}
        let same: String = try await bus.route(
            "app://types/pay?total=42",
            parameters: ["paySuccess": success, "payCancel": cancel]
        )
        #expect(same == "paid 42?")
    }

    @Test
    func `the error of a closure of another type has both types`() async throws {
        let bus = try await self.opened()
        let error = await #expect(throws: RoutingError.self) {
            try await bus.route(
                "app://types/closureOr",
                parameters: ["v": { @Sendable (text: String) in text }]
            )
        }
        #expect(error?.code == .invalidParameter)
        #expect(
            error?.message == "expected @Sendable (Int) -> Int, but `v` is @Sendable (String) -> String"
        )
    }

    @Test
    func `the error of a missing closure has its name and type`() async throws {
        let bus = try await self.opened()
        let error = await #expect(throws: RoutingError.self) {
            try await bus.route("app://types/pay?total=1")
        }
        #expect(error?.code == .missingParameter)
        #expect(
            error?.message
                == "expected @Sendable (String) -> String, but there is no parameter `paySuccess`"
        )
    }
}

#endif
