#if Metrics
import MetricsTestKit
import Testing
import Waybill
import WaybillMetrics

@Suite(.timeLimit(.minutes(1)))
struct MetricsMiddlewareTests {
    let bus = MessageBus()
    let metrics = TestMetrics()

    @Test func `the metrics middleware counts and times messages by pattern and outcome`() async throws {
        try self.bus.register("app://user/:uid") { try $0.parameters.require("uid", as: Int.self) }
        self.bus.use(MetricsMiddleware(factory: self.metrics))
        for uid in 1...3 { _ = try await self.bus.route("app://user/\(uid)", as: Int.self) }
        _ = try? await self.bus.route("app://user/x")
        _ = try? await self.bus.route("app://nobody")
        let route = "app://user/:uid"
        let replied = [("route", route), ("outcome", "replied")]
        let failed = [("route", route), ("outcome", "invalidParameter")]
        #expect(try self.metrics.expectCounter("waybill_messages", replied).totalValue == 3)
        #expect(try self.metrics.expectCounter("waybill_messages", failed).totalValue == 1)
        let lost = [("route", ""), ("outcome", "noRoute")]
        #expect(try self.metrics.expectCounter("waybill_messages", lost).totalValue == 1)
        let timer = try self.metrics.expectTimer("waybill_message_duration", replied)
        #expect(timer.values.count == 3 && timer.values.allSatisfy { $0 > 0 })
        let meter = try self.metrics.expectMeter("waybill_messages_in_flight")
        #expect(meter.values.max() == 1 && meter.values.last == 0)
    }
}
#endif
