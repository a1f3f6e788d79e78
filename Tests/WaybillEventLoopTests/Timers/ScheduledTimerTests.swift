internal import Synchronization
internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct ScheduledTimerTests {
    private let loop = EventLoop(name: "timers")

    @Test
    func `a scheduled closure runs on the loop, not before its time`() async {
        let loop = self.loop
        let deadline = ContinuousClock.now + .milliseconds(5)
        let (inLoop, fired) = await withCheckedContinuation { continuation in
            loop.schedule(at: deadline) {
                continuation.resume(returning: (loop.isInEventLoop, ContinuousClock.now))
            }
        }
        #expect(inLoop)
        #expect(fired >= deadline)
    }

    @Test
    func `scheduled closures run in the order of their deadlines`() async throws {
        let loop = self.loop
        let ran = Journal<Int>()
        let start = ContinuousClock.now + .milliseconds(5)
        // The loop fires no timer before all are scheduled.
        await loop.run {
            for index in [3, 1, 2, 0] {
                loop.schedule(at: start + .microseconds(100 * index)) { ran.add(index) }
            }
        }
        try await loop.clock.sleep(until: start + .milliseconds(1))
        await loop.run {}
        #expect(ran.entries == [0, 1, 2, 3])
    }

    @Test
    func `a closure cancelled on the loop never runs, even when its time has passed`() async throws {
        let loop = self.loop
        let fired = Locked(0)
        await loop.run {
            let past = ContinuousClock.now - .seconds(1)
            let timer = loop.schedule(at: past) { fired.withLock { $0 += 1 } }
            timer.cancel()
            timer.cancel()
        }
        try await loop.clock.sleep(for: .milliseconds(5))
        #expect(fired.withLock { $0 } == 0)
    }

    @Test
    func `a timer fires at the next poll if the clock of libuv has stood still`() async {
        let loop = self.loop
        let fired = Flag()
        let deadline = ContinuousClock.now + .milliseconds(100)
        loop.schedule(at: deadline) { fired.raise() }
        // The loop arms libuv's timer before it polls. A stopped timer behaves like a timer of a clock that
        // stands still.
        let stopArmedTimer = { @Sendable () -> Bool in
            guard unsafe loop.core.state.pointee.armedDeadline != nil else { return false }
            unsafe loop.core.state.pointee.handles?.timer.stop()
            return true
        }
        while await !loop.run(stopArmedTimer), !fired.isRaised {}
        while ContinuousClock.now < deadline { await Task.yield() }
        #expect(
            await eventually {
                await loop.run {}
                return fired.isRaised
            }
        )
    }

    @Test
    func `the timer of libuv is armed for a minute at most`() async throws {
        let timeout = try await onThread {
            Result {
                let loop = try EventLoop.driven()
                loop.schedule(at: .now + .seconds(3600)) {}
                for _ in 0..<100 { loop.dispatch() }
                defer {
                    loop.beginShutDown()
                    while !loop.core.lifecycle.isClosed { loop.dispatch() }
                }
                // The loop itself reports 0 if it cannot read the private fields of libuv.
                return loop.core.uv.backendTimeout
            }
        }.get()
        // libuv rounds the time up to the next millisecond.
        #expect((1...60_001).contains(timeout))
    }

    @Test
    func `another thread can cancel a scheduled closure, which releases its captures`() async throws {
        final class Held: Sendable {}
        var held: Held? = Held()
        weak let observer = held
        let timer = self.loop.schedule(at: .now + .seconds(600)) { [held] in _ = held }
        held = nil
        timer.cancel()
        await self.loop.run {}
        #expect(observer == nil)
        #expect(self.loop.statistics.pendingTimers == 0)
    }

    @Test
    func `cancelling a timer that has fired does not affect a later timer`() async throws {
        let loop = self.loop
        let fired = Journal<Int>()
        let first = loop.schedule(at: .now) { fired.add(1) }
        try await loop.clock.sleep(for: .milliseconds(3))
        // The second timer gets the slot of the first one.
        loop.schedule(at: .now + .milliseconds(3)) { fired.add(2) }
        first.cancel()
        try await loop.clock.sleep(for: .milliseconds(6))
        #expect(fired.entries == [1, 2])
    }

    @Test
    func `closures that schedule closures do not starve other jobs and timers`() async throws {
        let loop = self.loop
        let stop = Atomic(false)
        @Sendable func again() {
            if !stop.load(ordering: .relaxed) { loop.schedule(at: .now, again) }
        }
        again()
        for _ in 0..<10 { await loop.run {} }
        try await loop.clock.sleep(for: .milliseconds(2))
        stop.store(true, ordering: .relaxed)
    }

    @Test
    func `10,000 cancelled timers leave nothing behind`() async {
        let loop = self.loop
        await loop.run {
            let timers = (0..<10_000).map { index in
                loop.schedule(at: .now + .seconds(60) + .microseconds(index * 7919 % 10_000)) {}
            }
            for timer in timers { timer.cancel() }
        }
        #expect(loop.statistics.pendingTimers == 0)
    }

    @Test
    func `a closure scheduled orAtShutDown receives whether it is due or the loop shuts down`() async {
        let told = Journal<ScheduledTimer.Event>()
        let far = ContinuousClock.now + .seconds(600)
        let loop = self.loop
        loop.schedule(at: Deadline(.now), orAtShutDown: { told.add($0) })
        try? await loop.clock.sleep(for: .milliseconds(5))
        #expect(told.entries == [.due])
        loop.schedule(at: Deadline(far), orAtShutDown: { told.add($0) }).cancel()
        loop.schedule(at: Deadline(far), orAtShutDown: { told.add($0) })
        await loop.shutDown()
        #expect(told.entries == [.due, .shutDown])
        loop.schedule(at: Deadline(far), orAtShutDown: { told.add($0) })
        await loop.run {}
        #expect(told.entries == [.due, .shutDown, .shutDown])
    }
}
