import Logging
import Testing
import WaybillEventLoop

/// Every public call of `WaybillEventLoop`, without a bus.
struct EventLoopTests {
    /// An actor that runs on a loop.
    private actor Counter: LoopBound {
        let eventLoop: EventLoop
        private var count = 0
        init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
        func increment() -> Int {
            self.eventLoop.preconditionInEventLoop("an actor runs on its loop")
            self.count += 1
            return self.count
        }
        func isOnLoop() -> Bool {
            self.eventLoop.checkIsolated()
            return self.eventLoop.isIsolatingCurrentContext() == true && EventLoop.current === self.eventLoop
        }
    }

    @Test func `an actor runs on the loop that it was created with`() async {
        var configuration = EventLoop.Configuration(idlePolicy: .spin(for: .microseconds(10)))
        configuration.idlePolicy = .park
        configuration.timeSlice = .milliseconds(1)
        configuration.watchdogThreshold = nil
        configuration.logger = Logger(label: "consumer")
        let loop = EventLoop(name: "consumer", configuration: configuration)
        let counter = Counter(eventLoop: loop)
        #expect(await counter.increment() == 1)
        _ = (counter.unownedExecutor, loop.asUnownedSerialExecutor())
        #expect(await counter.isOnLoop() && !loop.isInEventLoop && EventLoop.current == nil)
        #expect(loop.name == "consumer" && loop.statistics.jobsRun > 0 && loop.statistics.queueDepth >= 0)
        #expect(loop.statistics.pendingTimers == 0 && loop.statistics.idleTime >= .zero)
        await loop.shutDown()
        #expect(loop.isShutDown)
    }

    @Test func `closures, tasks and sleeps run on a loop`() async throws {
        let loop = EventLoop()
        let isOnLoop = await withCheckedContinuation { continuation in
            loop.execute { continuation.resume(returning: loop.isInEventLoop) }
        }
        #expect(isOnLoop)
        let task = Task(executorPreference: loop.taskExecutor) { EventLoop.current != nil }
        #expect(await task.value && loop.taskExecutor.eventLoop === loop)
        let clock = loop.clock
        let began = clock.now
        try await clock.sleep(for: .milliseconds(2))
        try await clock.sleep(until: clock.now + .milliseconds(2))
        #expect(began.duration(to: clock.now) >= .milliseconds(4))
        #expect(clock.minimumResolution > .zero && clock.eventLoop === loop)
        loop.beginShutDown()
        await loop.shutDown()
    }

    @Test func `an event loop group has several loops`() async {
        let group = EventLoopGroup(name: "consumer", count: 2)
        #expect(group.eventLoops.count == 2 && EventLoopGroup.defaultCount >= 1)
        #expect(group.next() !== group.next())
        #expect(group.eventLoops.contains { $0 === group.any })
        await group.shutDown()
    }

    @Test func `a loop can run on the calling thread`() async {
        let loop = EventLoop.onCallingThread(name: "mine")
        #expect(loop.name == "mine" && !loop.isShutDown)
        loop.beginShutDown()
        loop.run()
        #expect(loop.isShutDown)
    }

    @Test func `a sequence of signals ends when its loop shuts down`() async throws {
        let loop = EventLoop()
        let signals = try await loop.signals(.user2, .windowChange)
        var iterator = signals.makeAsyncIterator()
        var others = try await loop.signals(Set([Signal.user2])).makeAsyncIterator()
        loop.beginShutDown()
        await #expect(throws: EventLoopError.self) { while try await iterator.next() != nil {} }
        await #expect(throws: EventLoopError.self) { try await others.next(isolation: #isolation) }
        await loop.shutDown()
        let names: [Signal] = [
            .hangUp, .interrupt, .quit, .terminate, .user1, .user2, .windowChange, Signal(number: 14),
        ]
        #expect(Set(names.map(\.number)).count == 8 && Signal.terminate.description == "signal 15")
        await #expect(throws: EventLoopError.self) { try await loop.signals(.user1) }
    }

    @Test func `an error of a loop has a code and a message`() {
        let error = EventLoopError(.system, message: "no memory")
        #expect(error.code == .system && error.code != .shutDown && error.message == "no memory")
        #expect(error.description == "system: no memory" && error.code.description == "system")
    }
}
