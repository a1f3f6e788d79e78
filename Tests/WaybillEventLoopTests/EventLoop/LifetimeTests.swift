#if os(Linux)
internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

@Suite(.timeLimit(.minutes(1)))
struct LifetimeTests {
    private enum End: String, CaseIterable, Codable {
        case dropped, droppedAfterUse, droppedWithTimer, shutDown, droppedOnItself
    }

    /// The test runs in a separate process, in which no other test has threads, descriptors or memory.
    @Test(arguments: End.allCases)
    private func `1,000 loops leave neither threads nor descriptors nor memory behind`(end: End) async throws
    {
        await #expect(processExitsWith: .success) { [end = end as End] in
            let start = try ProcessUsage.now
            // The first loops make the allocator reserve the memory that some loops need at the same time.
            try await Self.use(end, times: 500, from: start)
            let before = try ProcessUsage.now
            try await Self.use(end, times: 1000, from: start)
            // The limit finds a leak of 2 KB for each loop, which would be 2 MB.
            let growth = try ProcessUsage.now.residentBytes - before.residentBytes
            try #require(growth < 1_500_000 || ProcessUsage.isSanitized)
        }
    }

    private static func use(_ end: End, times: Int, from start: ProcessUsage) async throws {
        for _ in 0..<times / 50 {
            for _ in 0..<50 { await Self.use(end) }
            try #require(try await ProcessUsage.settles(near: start, tolerance: 10))
        }
    }

    private static func use(_ end: End) async {
        let loop = EventLoop(name: "brief")
        switch end {
        case .dropped: break
        case .droppedAfterUse: await Counter(eventLoop: loop).increment()
        case .droppedWithTimer: loop.schedule(at: .now + .seconds(600)) {}
        case .shutDown: await loop.shutDown()
        case .droppedOnItself:
            // The loop's own thread has the last reference.
            await withCheckedContinuation { continuation in
                loop.execute { [loop] in
                    _ = loop
                    continuation.resume()
                }
            }
        }
    }

    @Test
    func `a dropped loop ends although its thread sleeps`() async throws {
        var loop: EventLoop? = EventLoop()
        weak let observer = loop
        let ended = Locked(false)
        loop?.onShutDown { ended.withLock { $0 = true } }
        await loop?.run {}
        loop = nil
        #expect(observer == nil)
        while !ended.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
    }

    @Test
    func `an actor keeps its loop alive`() async {
        let counter = Counter(eventLoop: EventLoop())
        #expect(await counter.increment() == 1)
        #expect(!counter.eventLoop.isShutDown)
    }

    @Test
    func `a closure of a dropped loop still runs, with no current loop`() async {
        let found = await withCheckedContinuation { continuation in
            let gate = Flag()
            EventLoop().execute {
                while !gate.isRaised {}
                continuation.resume(returning: EventLoop.current != nil)
            }
            gate.raise()
        }
        #expect(!found)
    }
}
#endif
