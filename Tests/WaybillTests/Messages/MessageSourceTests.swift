import Testing
import WaybillEventLoop
import WaybillTestSupport

@testable import Waybill

/// Messages that a store delivers.
@Suite(.timeLimit(.minutes(1)))
struct MessageSourceTests {
    private final class Source: MessageSource {
        func sendReturn(_ value: any Sendable, to url: String, headers: [String: String]) {}
    }

    private actor Store: LoopBound {
        nonisolated let eventLoop: EventLoop

        init(on eventLoop: EventLoop) { self.eventLoop = eventLoop }

        /// Routes a message of a peer after the loop's time slice has passed and `count` deliveries.
        ///
        /// `whileYielding` is called if the delivery yields to the loop.
        func route(
            _ url: String,
            on bus: MessageBus,
            after count: Int,
            whileYielding: @escaping @Sendable () -> Void
        ) async throws {
            // The budget grows while deliveries are fast, and the loop then polls.
            while self.eventLoop.consumeDeliveryBudget() {}
            await self.eventLoop.yield()
            let start = ContinuousClock.now
            while start.duration(to: .now) <= EventLoop.Configuration().timeSlice {}
            for _ in 0..<count { _ = self.eventLoop.consumeDeliveryBudget() }
            self.eventLoop.execute(whileYielding)
            _ = try await bus.route(
                url: url,
                parameters: ["id": 2],
                isExternal: true,
                timeout: .seconds(30),
                source: Source()
            )
        }
    }

    @Test func `a value of a peer does not replace a value in the path of a route that appears meanwhile`()
        async throws
    {
        let bus = MessageBus(configuration: .quiet)
        let store = Store(on: bus.eventLoop)
        let ids = Journal<Int>()
        // The test does not know how many deliveries are left until the loop polls, so it tries each number.
        for count in 0..<80 {
            try? await store.route("app://user\(count)/1", on: bus, after: count) {
                _ = try? bus.register("app://user\(count)/:id") { ids.add(try $0.argument("id")) }
            }
        }
        #expect(ids.count > 0)
        #expect(ids.entries.allSatisfy { $0 == 1 })
        await bus.shutDown()
    }
}
