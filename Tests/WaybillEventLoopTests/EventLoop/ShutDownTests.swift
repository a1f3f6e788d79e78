internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct ShutDownTests {
    private let loop = EventLoop(name: "ending")

    @Test
    func `shutting down wakes sleepers with an error, and later sleeps fail`() async throws {
        let loop = self.loop
        let sleeper = Task { try await loop.clock.sleep(for: .seconds(600)) }
        while loop.statistics.pendingTimers == 0 { await Task.yield() }
        await loop.shutDown()
        let first = await #expect(throws: EventLoopError.self) { try await sleeper.value }
        let second = await #expect(throws: EventLoopError.self) { try await loop.clock.sleep(for: .zero) }
        #expect(first?.code == .shutDown)
        #expect(second?.code == .shutDown)
        #expect(second.map { "\($0)" } == "shutDown: the event loop \"ending\" has shut down")
    }

    @Test
    func `a loop can be shut down repeatedly, and by many tasks at once`() async {
        let loop = self.loop
        #expect(!loop.isShutDown)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { await loop.shutDown() } }
        }
        await loop.shutDown()
        #expect(loop.isShutDown)
    }

    @Test
    func `an actor of the loop can shut it down, and continues afterwards`() async {
        actor Ender: LoopBound {
            let eventLoop: EventLoop
            init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
            func end() async -> Bool {
                await self.eventLoop.shutDown()
                return self.eventLoop.isInEventLoop
            }
        }
        #expect(await Ender(eventLoop: self.loop).end())
    }

    @Test
    func `actors of a loop that has shut down still answer, one job at a time`() async {
        await self.loop.shutDown()
        let counter = Counter(eventLoop: self.loop)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<100 { await counter.increment() } }
            }
        }
        #expect(await counter.count == 800)
        let loop = self.loop
        #expect(await loop.run { loop.isInEventLoop && EventLoop.current === loop })
        #expect(await Task(executorPreference: loop.taskExecutor) { loop.isInEventLoop }.value)
    }

    @Test
    func `a timer of a loop that has shut down does not fire`() async {
        let fired = Locked(false)
        let loop = self.loop
        let pending = await loop.run {
            let timer = loop.schedule(at: .now + .milliseconds(2)) { fired.withLock { $0 = true } }
            loop.beginShutDown()
            return timer
        }
        await loop.shutDown()
        pending.cancel()
        self.loop.schedule(at: .now) { fired.withLock { $0 = true } }.cancel()
        self.loop.schedule(at: .now) { fired.withLock { $0 = true } }
        await self.loop.run {}
        #expect(!fired.withLock { $0 })
    }

    @Test
    func `shutdown hooks run once, on the loop, unless they were cancelled`() async {
        let loop = self.loop
        let seen = Journal<String>()
        loop.onShutDown { seen.add("first \(loop.isInEventLoop)") }
        let hook = loop.onShutDown { seen.add("never") }
        loop.onShutDown { seen.add("second") }
        hook.cancel()
        hook.cancel()
        await loop.shutDown()
        #expect(seen.entries == ["first true", "second"])
        loop.onShutDown { seen.add("late \(loop.isInEventLoop)") }.cancel()
        await loop.run {}
        #expect(seen.entries == ["first true", "second", "late true"])
    }

    @Test
    func `a shutdown hook can use the loop`() async {
        let loop = self.loop
        let ran = Locked(0)
        loop.onShutDown {
            loop.execute { ran.withLock { $0 += 1 } }
            loop.schedule(at: .now) { ran.withLock { $0 += 10 } }
            loop.beginShutDown()
        }
        await loop.shutDown()
        await loop.run {}
        #expect(ran.withLock { $0 } == 1)
    }

    @Test
    func `closures that enqueue closures for ever do not keep the loop from shutting down`() async {
        let loop = self.loop
        let stop = Flag()
        @Sendable func again() {
            if !stop.isRaised { loop.execute(again) }
        }
        again()
        await loop.shutDown()
        stop.raise()
        await loop.run {}
    }

    @Test
    func `closures that enqueue closures for ever do not starve others after the shutdown`() async {
        let loop = self.loop
        await loop.shutDown()
        let (begun, stop) = (Flag(), Flag())
        @Sendable func again() {
            begun.raise()
            if !stop.isRaised { loop.execute(again) }
        }
        loop.execute(again)
        #expect(await eventually { begun.isRaised })
        loop.execute { stop.raise() }
        #expect(await eventually { stop.isRaised })
        stop.raise()
    }
}
