import Testing
import Waybill
import WaybillCompatibility
import WaybillTestSupport

@Suite struct COCRouterForwarderTests {
    @Test func `the bus's filter receives the failures of each forwarder after the completion`() async throws
    {
        let bus = MessageBus(configuration: .quiet(by: .cocRouter))
        let journal = Journal<String>()
        try bus.register("order://detail") { _ in 1 }
        bus.setForwardFilter { url, mode in journal.add("bus \(url) \(mode.rawValue)") }
        let first = COCRouterForwarder(bus)
        let second = COCRouterForwarder(bus) { _, mode in journal.add("own \(mode.rawValue)") }
        await first.forward("order://detail") { journal.add("completion \($0.mode.rawValue)") }
        await first.forward("no url") { journal.add("completion \($0.mode.rawValue)") }
        await second.forward("order://nothing") { journal.add("completion \($0.mode.rawValue)") }
        #expect(
            journal.entries == [
                "completion 200", "completion 400", "bus no url 400", "completion 401", "own 401",
                "bus order://nothing 401",
            ]
        )
    }
}
