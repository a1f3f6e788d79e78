internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct StatisticsTests {
    private let loop = EventLoop(name: "counted")

    @Test
    func `a loop counts jobs when they start`() async {
        let before = await self.loop.run { 0 }
        let first = self.loop.statistics.jobsRun + before
        for _ in 0..<100 { self.loop.execute {} }
        await self.loop.run {}
        #expect(self.loop.statistics.jobsRun == first + 101)
    }

    @Test
    func `a loop reports the jobs that wait behind a long job`() async {
        let gate = Flag()
        self.loop.execute { while !gate.isRaised {} }
        for _ in 0..<10 { self.loop.execute {} }
        while self.loop.statistics.queueDepth > 10 { await Task.yield() }
        #expect(self.loop.statistics.queueDepth == 10)
        gate.raise()
        await self.loop.run {}
        #expect(self.loop.statistics.queueDepth == 0)
    }

    @Test
    func `a task resumed in place does not change the count of waiting jobs`() async {
        actor Yielder: LoopBound {
            let eventLoop: EventLoop
            init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
            func yield(_ count: Int) async { for _ in 0..<count { await self.eventLoop.yield() } }
        }
        await Yielder(eventLoop: self.loop).yield(100)
        let gate = Flag()
        self.loop.execute { while !gate.isRaised {} }
        for _ in 0..<10 { self.loop.execute {} }
        #expect(await eventually { self.loop.statistics.queueDepth == 10 })
        gate.raise()
        await self.loop.run {}
        #expect(self.loop.statistics.queueDepth == 0)
    }

    @Test
    func `a sleeping loop reports idle time, and a working loop does not`() async throws {
        await self.loop.run {}
        let start = self.loop.statistics.idleTime
        #expect(await eventually { self.loop.statistics.idleTime - start >= .milliseconds(15) })
        let gate = Flag()
        self.loop.execute { while !gate.isRaised {} }
        while self.loop.statistics.jobsRun < 2 { await Task.yield() }
        let busy = self.loop.statistics.idleTime
        try await Task.sleep(for: .milliseconds(10))
        #expect(self.loop.statistics.idleTime == busy)
        gate.raise()
    }

    @Test
    func `a loop counts its pending timers`() async {
        let loop = self.loop
        let timers = (0..<5).map { _ in loop.schedule(at: .now + .seconds(600)) {} }
        await loop.run {}
        #expect(loop.statistics.pendingTimers == 5)
        for timer in timers { timer.cancel() }
        await loop.run {}
        #expect(loop.statistics.pendingTimers == 0)
    }
}
