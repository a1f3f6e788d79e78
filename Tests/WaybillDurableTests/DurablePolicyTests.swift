#if Durable
import Testing
import Waybill
import WaybillRouting

@testable import WaybillDurable

@Suite struct DurablePolicyTests {
    @Test func `policies select URLs by their patterns only, whatever the conventions of the bus`() throws {
        var conventions = RoutingConventions.waybill
        conventions.schemeMustBeRegistered = true
        conventions.sameShape = .replaces
        conventions.fallsBack = true
        var policies = DurablePolicies(of: .init(defaultScheme: "ft", conventions: conventions))
        try policies.add(DurablePolicy(concurrency: 5), for: "ft://mail")
        #expect(try policies.lane(of: "far://x") == DurablePolicies.commonLane)
        #expect(policies.policy(of: "ft://mail").concurrency == 5)
        let scope = try #require(try policies.scope(of: "ft://mail/old"))
        #expect(scope.canRoute("ft://mail/old") && !scope.canRoute("ft://mail/old/anything"))
        #expect(throws: RoutingError.self) { try policies.add(DurablePolicy(), for: "ft://mail") }
    }

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
