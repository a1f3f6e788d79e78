#if Durable
import Testing
import Waybill
import WaybillRouting

@testable import WaybillDurable

@Suite struct DurablePolicyTests {
    @Test(arguments: [DurablePolicies.interruptedLane, "app://mail/**"])
    func `a policy's lane is separate from that of interrupted messages, whatever its pattern`(
        pattern: String
    ) throws {
        var policies = DurablePolicies()
        try policies.add(DurablePolicy(concurrency: 5), for: pattern)
        let lane = try policies.lane(of: pattern.replacing("**", with: "receipt"))
        #expect(lane != DurablePolicies.interruptedLane && lane != DurablePolicies.commonLane)
        #expect(policies.concurrency(of: lane) == 5)
        #expect(policies.concurrency(of: DurablePolicies.interruptedLane) == 1)
    }
}
#endif
