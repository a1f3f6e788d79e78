internal import CMeasure
internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

/// A timer of one millisecond fires within five, whatever keeps the loop busy.
///
/// A busy loop uses all the time of its thread. The tests measure thread time, because other tests use the
/// processors too.
@Suite(.timeLimit(.minutes(1)))
struct FairnessTests {
    private let loop = EventLoop(name: "fair")
    private let stop = Flag()

    /// Returns the thread time of the loop until a timer of one millisecond fires: the median of several.
    private func delayOfTimer() async -> Duration {
        let loop = self.loop
        var delays: [Duration] = []
        for _ in 0..<15 {
            await delays.append(
                withCheckedContinuation { continuation in
                    loop.execute {
                        let began = thread_time()
                        loop.schedule(at: .now + .milliseconds(1)) {
                            continuation.resume(returning: .nanoseconds(thread_time() - began))
                        }
                    }
                }
            )
        }
        return delays.sorted()[delays.count / 2]
    }

    @Test
    func `a timer fires on time while closures enqueue closures for ever`() async {
        let (loop, stop) = (self.loop, self.stop)
        @Sendable func again() {
            if !stop.isRaised { loop.execute(again) }
        }
        for _ in 0..<10 { loop.execute(again) }
        #expect(await self.delayOfTimer() < .milliseconds(5))
        stop.raise()
    }

    @Test
    func `a timer fires on time while another thread enqueues closures as fast as it can`() async {
        let (loop, stop) = (self.loop, self.stop)
        let pusher = Task.detached {
            while !stop.isRaised {
                for _ in 0..<100 { loop.execute {} }
                while loop.statistics.queueDepth > 10_000 { await Task.yield() }
            }
        }
        #expect(await self.delayOfTimer() < .milliseconds(5))
        stop.raise()
        await pusher.value
    }

    @Test
    func `a timer fires on time while two actors call each other and consume the budget`() async {
        actor Player: LoopBound {
            let eventLoop: EventLoop
            var hits = 0
            init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
            func hit() { self.hits += 1 }
            func play(with other: Player, until stop: Flag) async {
                while !stop.isRaised {
                    if !self.eventLoop.consumeDeliveryBudget() { await Task.yield() }
                    await other.hit()
                }
            }
        }
        let (one, two) = (Player(eventLoop: self.loop), Player(eventLoop: self.loop))
        let stop = self.stop
        async let first: Void = one.play(with: two, until: stop)
        async let second: Void = two.play(with: one, until: stop)
        #expect(await self.delayOfTimer() < .milliseconds(5))
        stop.raise()
        _ = await (first, second)
        #expect(await one.hits > 0)
    }

    @Test
    func `a timer fires on time while timers schedule timers for ever`() async {
        let (loop, stop) = (self.loop, self.stop)
        @Sendable func again() {
            if !stop.isRaised { loop.schedule(at: .now, again) }
        }
        again()
        #expect(await self.delayOfTimer() < .milliseconds(5))
        #expect(await loop.run { true })
        stop.raise()
    }

    @Test func `a task that yields runs before jobs that are enqueued after it`() async {
        actor Yielder: LoopBound {
            let eventLoop: EventLoop
            let order = Journal<Int>()
            init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
            func yield(_ number: Int) async {
                while self.eventLoop.consumeDeliveryBudget() {}
                let task = Task.immediate {
                    await EventLoop.yieldIfDue()
                    self.order.add(number)
                }
                self.eventLoop.execute { self.order.add(number + 1) }
                await task.value
            }
        }
        let yielder = Yielder(eventLoop: self.loop)
        for round in 0..<100 { await yielder.yield(2 * round) }
        #expect(await eventually { yielder.order.entries == Array(0..<200) })
    }
}
