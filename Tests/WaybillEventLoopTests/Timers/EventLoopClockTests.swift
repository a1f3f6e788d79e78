internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct EventLoopClockTests {
    private let loop = EventLoop(name: "clock")

    @Test(arguments: [0, 1, 3, 20] as [Int64])
    func `a sleep on the loop's clock lasts for its duration`(milliseconds: Int64) async throws {
        for _ in 0..<10 {
            let began = ContinuousClock.now
            try await self.loop.clock.sleep(for: .milliseconds(milliseconds))
            #expect(began.duration(to: .now) >= .milliseconds(milliseconds))
        }
    }

    @Test
    func `a sleep until a deadline in the past returns`() async throws {
        try await self.loop.clock.sleep(until: .now - .seconds(1))
    }

    @Test
    func `an actor stays on its loop when it sleeps on the loop's clock`() async throws {
        actor Sleeper: LoopBound {
            let eventLoop: EventLoop
            init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
            func nap() async throws {
                try await self.eventLoop.clock.sleep(for: .milliseconds(2))
                self.eventLoop.preconditionInEventLoop()
            }
        }
        try await Sleeper(eventLoop: self.loop).nap()
    }

    @Test
    func `a sleep until the far future keeps waiting`() async throws {
        let loop = self.loop
        let sleeper = Task { try await loop.clock.sleep(for: .seconds(Int64.max / 4)) }
        while loop.statistics.pendingTimers == 0 { await Task.yield() }
        try await loop.clock.sleep(for: .milliseconds(2))
        // The loop counts its timers at the end of a turn, and it wakes the sleeper in the middle of one.
        for _ in 0..<1000 where loop.statistics.pendingTimers != 1 {
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(loop.statistics.pendingTimers == 1)
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test
    func `cancelling wakes a sleeper at once`() async throws {
        let loop = self.loop
        let sleeper = Task { try await loop.clock.sleep(for: .seconds(600)) }
        while loop.statistics.pendingTimers == 0 { await Task.yield() }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
        #expect(loop.statistics.pendingTimers == 0)
    }

    @Test
    func `a cancelled task does not begin to sleep`() async throws {
        let loop = self.loop
        let sleeper = Task { @Sendable in
            while !Task.isCancelled { await Task.yield() }
            try await loop.clock.sleep(for: .seconds(600))
        }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    #if os(Linux)
    @Test
    func `100,000 sleepers take less than 200 MB, and can be cancelled`() async throws {
        await #expect(processExitsWith: .success) {
            let loop = EventLoop(name: "crowd")
            let before = try ProcessUsage.now.residentBytes
            let sleepers = (0..<100_000).map { index in
                Task { try await loop.clock.sleep(for: .seconds(600) + .milliseconds(index % 1000)) }
            }
            while loop.statistics.pendingTimers < 100_000 { try await Task.sleep(for: .milliseconds(5)) }
            #if DEBUG
            // Frames are larger without optimization. The tasks alone take 150 MB, and `Task.sleep` takes 320
            // MB.
            let limit = 300_000_000
            #else
            let limit = 200_000_000
            #endif
            try #require(try ProcessUsage.now.residentBytes - before < limit || ProcessUsage.isSanitized)
            for sleeper in sleepers { sleeper.cancel() }
            for sleeper in sleepers {
                guard case .failure(let error) = await sleeper.result, error is CancellationError else {
                    Issue.record("a sleeper was not cancelled")
                    return
                }
            }
            try #require(loop.statistics.pendingTimers == 0)
        }
    }
    #endif

    @Test
    func `the loop's clock agrees with the continuous clock`() {
        let clock = self.loop.clock
        let before = ContinuousClock.now
        let now = clock.now
        #expect(before <= now)
        #expect(now <= ContinuousClock.now)
        #expect(clock.minimumResolution == .milliseconds(1))
    }
}
