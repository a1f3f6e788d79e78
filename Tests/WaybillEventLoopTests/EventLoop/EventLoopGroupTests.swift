internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct EventLoopGroupTests {
    @Test
    func `an event loop group has a loop for each core`() async {
        let group = EventLoopGroup()
        #expect(group.eventLoops.count == EventLoopGroup.defaultCount)
        #expect(EventLoopGroup.defaultCount > 0)
        await group.shutDown()
        for loop in group.eventLoops { #expect(loop.isShutDown) }
    }

    @Test
    func `next returns the group's loops in turn`() {
        let group = EventLoopGroup(name: "workers", count: 3)
        let names = (0..<6).map { _ in group.next().name }
        #expect(names == ["workers-0", "workers-1", "workers-2", "workers-0", "workers-1", "workers-2"])
    }

    @Test
    func `a group's any is the current loop if that belongs to the group`() async {
        let group = EventLoopGroup(count: 3)
        for loop in group.eventLoops {
            #expect(await loop.run { group.any === loop })
        }
        #expect(group.eventLoops.contains { $0 === group.any })
    }
}
