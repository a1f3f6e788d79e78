internal import Foundation
internal import Testing
internal import WaybillTestSupport

@testable internal import WaybillEventLoop

/// The assumptions of the loop about the Swift runtime that no interface guarantees.
///
/// These tests fail first if a toolchain changes the runtime. `WorkItemTests` compares the private words of a
/// job with the runtime, and `CurrentTaskTests` the flags of a task.
@Suite(.timeLimit(.minutes(1)))
struct RuntimeLayoutTests {
    @Test func `an instant of the continuous clock has the layout of a duration`() {
        #expect(MemoryLayout<ContinuousClock.Instant>.size == MemoryLayout<Duration>.size)
        #expect(MemoryLayout<ContinuousClock.Instant>.alignment == MemoryLayout<Duration>.alignment)
        for nanoseconds in [0, 1, 999_999_999, 1_000_000_000, 1 << 53, .max / 2] as [Int64] {
            let instant = MonotonicTime.instant(nanoseconds)
            #expect(MonotonicTime.nanoseconds(of: instant) == nanoseconds)
            #expect(MonotonicTime.instant(0).duration(to: instant) == .nanoseconds(nanoseconds))
        }
        let now = ContinuousClock.now
        #expect(now.duration(to: MonotonicTime.instant(MonotonicTime.now)) < .seconds(1))
        #expect(now <= MonotonicTime.instant(MonotonicTime.nanoseconds(of: .now)))
    }

    @Test(.needsPrivateSymbol("watcher_queue"))
    func `libuv reports a new watcher from its start to the next poll`() throws {
        let (uv, watched) = (try UVLoop(), try UVLoop())
        defer { watched.close() }
        var handles: [PollHandle] = []
        for _ in 0..<3 {
            // One descriptor has only one handle in libuv.
            let descriptor = dup(watched.backendDescriptor)
            let handle = try PollHandle(on: uv, descriptor: descriptor) {}
            handle.start()
            #expect(uv.hasNewWatchers)
            uv.runOnce()
            #expect(!uv.hasNewWatchers)
            handles.append(handle)
        }
        for handle in handles { handle.close {} }
        uv.run()
        uv.close()
    }

    @Test func `an unowned job has the layout of an address`() {
        #expect(MemoryLayout<UnownedJob>.size == MemoryLayout<UInt>.size)
        #expect(MemoryLayout<UnownedJob>.alignment == MemoryLayout<UInt>.alignment)
    }

    private struct Wide: Sendable, Equatable {
        var words = [1, 2, 3, 4].map(String.init)
        var (a, b, c, d) = (1, 2.5, "three", Int128.max)
    }

    private struct Refusal: Error, Equatable { let code: Int }

    private actor Target: LoopBound {
        let eventLoop = EventLoop(name: "target")
        private var sum = 0

        func add(_ number: Int) -> Int {
            self.sum += number
            return self.sum
        }

        func wide(_ wide: Wide) -> Wide { wide }
        func box(_ value: any Sendable) -> any Sendable { value }
        func refuse(_ code: Int) throws -> Wide { throw Refusal(code: code) }
    }

    @Test func `an isolated function takes its actor like any other argument`() async {
        let target = Target()
        await target.eventLoop.run {
            #expect(target.assumeOnLoop { $0.add(1) } == 1)
            #expect(target.assumeOnLoop { $0.add(2) } == 3)
            #expect(target.assumeOnLoop { $0.box(Wide()) } as? Wide == Wide())
            #expect(target.assumeOnLoop { $0.wide(Wide()) } == Wide())
            #expect(throws: Refusal(code: 8)) { try target.assumeOnLoop { try $0.refuse(8) } }
        }
    }

    @Test func `the runtime retains a living loop once for each request`() async {
        weak var observer: EventLoop?
        do {
            let loop = EventLoop(name: "alive")
            let reference = LoopReference(loop)
            for _ in 0..<1000 { #expect(reference.loop === loop) }
            observer = loop
        }
        // One retain too many would keep the loop alive. One too few would have destroyed it above.
        #expect(await eventually { observer == nil })
    }

    @Test func `the runtime does not retain a loop that is being destroyed`() async {
        let found = Journal<Bool>()
        let core: LoopCore
        do {
            let loop = EventLoop(name: "gone")
            core = loop.core
            loop.onShutDown { [core = loop.core] in found.add(core.loop != nil) }
        }
        // The closure runs after `deinit` has begun the shutdown. At that time the core retains the loop's
        // memory, but not the loop.
        #expect(await eventually { found.entries == [false] })
        #expect(core.name == "gone")
    }
}
