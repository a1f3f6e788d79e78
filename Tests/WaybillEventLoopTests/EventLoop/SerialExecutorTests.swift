internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct SerialExecutorTests {
    @Test
    func `an actor runs on its loop, whoever calls it`() async {
        let counter = Counter(eventLoop: EventLoop())
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<500 { await counter.increment() } }
            }
        }
        #expect(await counter.count == 4000)
    }

    @Test
    func `a call between two actors of one loop enqueues no job`() async {
        let loop = EventLoop()
        let (first, second) = (Counter(eventLoop: loop), Counter(eventLoop: loop))
        let before = loop.statistics.jobsRun
        await first.increment(second, times: 10_000)
        #expect(loop.statistics.jobsRun - before < 10)
        #expect(await second.count == 10_000)
    }

    @Test
    func `actors of two loops call each other`() async {
        let (first, second) = (Counter(eventLoop: EventLoop()), Counter(eventLoop: EventLoop()))
        async let one: Void = first.increment(second, times: 500)
        async let two: Void = second.increment(first, times: 500)
        _ = await (one, two)
        #expect(await first.count == 500)
        #expect(await second.count == 500)
    }

    @Test
    func `a task that an actor starts stays on the actor's loop`() async {
        actor Starter: LoopBound {
            let eventLoop: EventLoop
            init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
            func start() -> Task<Bool, Never> {
                Task {
                    await Task.yield()
                    _ = self
                    return self.eventLoop.isInEventLoop
                }
            }
        }
        #expect(await Starter(eventLoop: EventLoop()).start().value)
    }

    @Test
    func `a closure on the loop can check and assume the isolation of the loop's actor`() async {
        let counter = Counter(eventLoop: EventLoop())
        let count = await counter.eventLoop.run {
            counter.eventLoop.preconditionIsolated()
            counter.preconditionIsolated()
            return counter.assumeIsolated { $0.increment() } + counter.assumeOnLoop { $0.increment() }
        }
        #expect(count == 3)
        #expect(counter.eventLoop.isIsolatingCurrentContext() == false)
    }

    @Test
    func `assuming an actor's isolation off its loop traps`() async {
        await #expect(processExitsWith: .failure) {
            Counter(eventLoop: EventLoop()).assumeOnLoop { _ in }
        }
        await #expect(processExitsWith: .failure) {
            func assume(_ counter: Counter) { counter.assumeIsolated { _ in } }
            assume(Counter(eventLoop: EventLoop()))
        }
    }

    @Test
    func `assumeOnLoop rethrows the error of its closure`() async {
        struct Refusal: Error {}
        let counter = Counter(eventLoop: EventLoop())
        let refused = await counter.eventLoop.run {
            do {
                try counter.assumeOnLoop { counter throws(Refusal) in
                    counter.increment()
                    throw Refusal()
                }
                return false
            } catch {
                return true
            }
        }
        #expect(refused)
        #expect(await counter.count == 1)
    }
}
