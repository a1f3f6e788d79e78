internal import Foundation
internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct AdoptionTests {
    @Test
    func `the host's loop and an adopted loop both progress, and the host's can be closed`() async throws {
        let result = try await HostThread.run { host in
            var ticks = 0
            host.startTimer(every: 1) { ticks += 1 }
            let loop = try host.adopt(name: "guest")
            let counter = Counter(eventLoop: loop)
            let task = Task {
                for _ in 0..<200 { await counter.increment() }
                try await loop.clock.sleep(for: .milliseconds(20))
                return await counter.count
            }
            let done = Flag()
            Task {
                _ = await task.result
                await loop.shutDown()
                done.raise()
            }
            while !loop.isShutDown { host.runOnce() }
            host.stopTimer()
            host.run()
            return (ticks: ticks, task: task, loop: loop, status: host.close())
        }
        #expect(result.ticks > 5)
        #expect(try await result.task.value == 200)
        #expect(result.status == 0)
        await result.loop.shutDown()
    }

    @Test
    func `work from another thread wakes a host that polls the descriptor of its loop`() async throws {
        let seen = try await HostThread.run { host in
            // libuv runs a loop only while the loop has an active handle.
            host.startTimer(every: 20_000) {}
            let loop = try host.adopt(name: "polled")
            let seen = Journal<String>()
            for _ in 0..<3 { _ = host.runOnceAndPoll(waitingFor: 0) }
            Thread.detachNewThread {
                usleep(20_000)
                loop.execute { seen.add("closure") }
            }
            // An iteration that runs here could run the closure itself, and then nothing would wake the host.
            let isWoken = host.pollOnly(waitingFor: 10_000)
            for _ in 0..<3 { _ = host.runOnceAndPoll(waitingFor: 0) }
            let entries = seen.entries + (isWoken ? ["woken"] : [])
            loop.beginShutDown()
            host.stopTimer()
            host.run()
            #expect(host.close() == 0)
            return entries
        }
        #expect(seen == ["closure", "woken"])
    }

    @Test(arguments: [false, true])
    func `the timers of an adopted loop fire in time`(runsOnce: Bool) async throws {
        let duration = try await HostThread.run { host in
            let loop = try host.adopt(name: "timed")
            let task = Task {
                for _ in 0..<20 { try await loop.clock.sleep(for: .microseconds(5_300)) }
            }
            let ended = Flag()
            Task {
                _ = await task.result
                ended.raise()
            }
            let start = ContinuousClock.now
            host.startTimer(every: 1) {}
            while !ended.isRaised, ContinuousClock.now - start < .seconds(30) {
                host.runOnce(waits: runsOnce)
            }
            let duration = ContinuousClock.now - start
            loop.beginShutDown()
            host.stopTimer()
            host.run()
            #expect(host.close() == 0)
            return duration
        }
        // Twenty times six milliseconds, and much more under load.
        #expect(duration < .seconds(5))
    }

    @Test
    func `an idle adopted loop does not keep the host's loop running`() async throws {
        let status = try await HostThread.run { host in
            let loop = try host.adopt(name: "idle")
            host.run()
            #expect(loop.isInEventLoop)
            loop.beginShutDown()
            host.run()
            #expect(!loop.isInEventLoop)
            return host.close()
        }
        #expect(status == 0)
    }

    @Test
    func `a queued closure or a timer of an adopted loop keeps the host's loop running`() async throws {
        let seen = try await HostThread.run { host in
            let loop = try host.adopt(name: "busy")
            let seen = Journal<String>()
            loop.execute { seen.add("closure") }
            loop.schedule(at: .now + .milliseconds(5)) { seen.add("timer") }
            let cancelled = loop.schedule(at: .now + .seconds(600)) {}
            loop.execute { cancelled.cancel() }
            host.run()
            loop.beginShutDown()
            host.run()
            #expect(host.close() == 0)
            return seen.entries
        }
        #expect(seen == ["closure", "timer"])
    }

    @Test
    func `single iterations of a host run the timers of an adopted loop, and what these enqueue`()
        async throws
    {
        let seen = try await HostThread.run { host in
            let loop = try host.adopt(name: "timed")
            let seen = Journal<String>()
            loop.schedule(at: .now + .milliseconds(5)) {
                seen.add("first")
                loop.execute { seen.add("enqueued") }
            }
            loop.schedule(at: .now + .milliseconds(10)) { seen.add("second") }
            while host.runOnce() {}
            loop.beginShutDown()
            host.run()
            #expect(host.close() == 0)
            return seen.entries
        }
        #expect(seen.sorted() == ["enqueued", "first", "second"])
    }

    @Test(arguments: [0, 1])
    func `each of two adopted loops on one thread is the current loop of its own work`(
        closedFirst: Int
    ) async throws {
        let seen = try await HostThread.run { host in
            let loops = [try host.adopt(name: "0"), try host.adopt(name: "1")]
            let seen = Journal<String>()
            func work(on loop: EventLoop) {
                loop.execute { seen.add("\(loop.name) \(EventLoop.current?.name ?? "none")") }
                loop.schedule(at: .now + .milliseconds(1)) {
                    seen.add("\(loop.name) \(EventLoop.current?.name ?? "none")")
                }
                host.run()
            }
            for loop in loops { work(on: loop) }
            loops[closedFirst].beginShutDown()
            host.run()
            #expect(EventLoop.current !== loops[closedFirst])
            work(on: loops[1 - closedFirst])
            loops[1 - closedFirst].beginShutDown()
            host.run()
            #expect(EventLoop.current == nil)
            #expect(host.close() == 0)
            return seen.entries
        }
        let left = "\(1 - closedFirst) \(1 - closedFirst)"
        #expect(seen == ["0 0", "0 0", "1 1", "1 1", left, left])
    }

    @Test
    func `a dropped adopted loop is removed by the host's next run`() async throws {
        let status = try await HostThread.run { host in
            var loop: EventLoop? = try host.adopt(name: "dropped")
            host.run()
            loop?.execute {}
            loop = nil
            host.run()
            return host.close()
        }
        #expect(status == 0)
    }

    @Test
    func `a host's loop can adopt two loops, one after the other`() async throws {
        let status = try await HostThread.run { host in
            for round in 0..<2 {
                let loop = try host.adopt(name: "guest \(round)")
                let count = Locked(0)
                loop.execute { count.withLock { $0 += 1 } }
                host.run()
                #expect(count.withLock { $0 } == 1)
                loop.beginShutDown()
                host.run()
            }
            return host.close()
        }
        #expect(status == 0)
    }
}
