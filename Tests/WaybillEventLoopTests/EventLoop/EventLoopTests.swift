internal import Synchronization
internal import Testing

@testable internal import WaybillEventLoop

actor Counter: LoopBound {
    let eventLoop: EventLoop
    var count = 0

    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    func increment() -> Int {
        self.eventLoop.preconditionInEventLoop()
        self.count += 1
        return self.count
    }

    nonisolated func incrementFromLoop() -> Int {
        self.assumeOnLoop { $0.increment() }
    }
}

@Suite(.timeLimit(.minutes(1)))
struct EventLoopTests {
    @Test
    func `an actor runs on its loop`() async {
        let counter = Counter(eventLoop: EventLoop())
        for expected in 1...1000 { #expect(await counter.increment() == expected) }
    }

    @Test
    func `closures run on the loop in the order in which they were given`() async {
        let loop = EventLoop()
        let seen = Mutex<[Int]>([])
        await withCheckedContinuation { done in
            for index in 0..<1000 { loop.execute { seen.withLock { $0.append(index) } } }
            loop.execute { done.resume() }
        }
        #expect(seen.withLock { $0 } == Array(0..<1000))
    }

    @Test
    func `a sleep lasts as long as it says`() async throws {
        let loop = EventLoop()
        let began = ContinuousClock.now
        try await loop.clock.sleep(for: .milliseconds(20))
        #expect(began.duration(to: .now) >= .milliseconds(20))
    }

    @Test
    func `shutting down fails a sleeper and is repeatable`() async throws {
        let loop = EventLoop()
        let sleeping = Task { try await loop.clock.sleep(for: .seconds(60)) }
        try await Task.sleep(for: .milliseconds(10))
        await loop.shutDown()
        await loop.shutDown()
        await #expect(throws: EventLoopError.self) { try await sleeping.value }
        let counter = Counter(eventLoop: loop)
        #expect(await counter.increment() == 1)
    }

    @Test
    func `a closure on the loop is code of its actors`() async {
        let counter = Counter(eventLoop: EventLoop())
        let count = await withCheckedContinuation { done in
            counter.eventLoop.execute {
                let first = counter.incrementFromLoop()
                let second = counter.assumeIsolated { $0.increment() }
                done.resume(returning: first + second)
            }
        }
        #expect(count == 3)
    }
}
