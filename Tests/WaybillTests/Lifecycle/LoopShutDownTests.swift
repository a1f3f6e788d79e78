import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// No caller hangs when a loop under a bus shuts down.
@Suite(.timeLimit(.minutes(1)))
struct LoopShutDownTests {
    let loop = EventLoop(name: "stops")

    private func bus(isHome: Bool) throws -> (MessageBus, started: Gate) {
        let started = Gate()
        let bus = MessageBus(eventLoop: isHome ? self.loop : EventLoop(), configuration: .quiet)
        let probe = Probe(eventLoop: self.loop)
        let never = Gate()
        try bus.register("app://now", on: probe) { _, _ in 1 }
        try bus.register("app://later", on: probe) { _, _ -> Int in
            await Task.yield()
            return 1
        }
        try bus.register("app://slow", on: probe) { _, message in
            started.open()
            await message.reply(with: 1)
            await withTaskCancellationHandler {
                await never.wait()
            } onCancel: {
                never.open()
            }
        }
        try bus.subscribe("app://topic", on: probe) { _, _ in }
        return (bus, started)
    }

    @Test(arguments: [true, false])
    func `messages to handlers on a loop that shuts down fail at once`(isHome: Bool) async throws {
        let (bus, started) = try self.bus(isHome: isHome)
        async let error = failure { try await bus.route("app://slow") }
        await started.wait()
        await self.loop.shutDown()
        #expect(await error?.code == .shutDown)
        #expect(await bus.settles())
    }

    @Test(arguments: [true, false], ["app://now", "app://later", "app://slow"])
    func `messages sent after their handler's loop has shut down fail`(isHome: Bool, url: String) async throws
    {
        let (bus, _) = try self.bus(isHome: isHome)
        await self.loop.shutDown()
        #expect(await failure { try await bus.route(url) }?.code == .shutDown)
        #expect(await failure { try await bus.route(url, deadline: .now + .seconds(5)) }?.code == .shutDown)
        #expect(await failure { for try await _ in bus.replies(to: url) {} }?.code == .shutDown)
        #expect(try await bus.publish("app://topic") == 0)
        bus.send(url)
        #expect(await bus.settles())
        #expect(bus.statistics.replied == 0)
        await bus.shutDown()
    }

    @Test func `the modules of another loop continue when one loop has shut down`() async throws {
        let bus = MessageBus(eventLoops: [EventLoop(), self.loop], configuration: .quiet)
        try bus.register("app://a") { _ in 1 }
        await self.loop.shutDown()
        #expect(try await bus.route("app://a", as: Int.self) == 1)
    }

    @Test func `a caller that routes while the loop shuts down gets a reply or an error`() async throws {
        for _ in 0..<Scale.of(50) {
            let loop = EventLoop()
            let bus = MessageBus(eventLoop: loop, configuration: .quiet)
            try bus.register("app://now") { _ in 1 }
            try bus.register("app://later") { _ -> Int in
                await Task.yield()
                return 1
            }
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        let url = number.isMultiple(of: 2) ? "app://now" : "app://later"
                        for _ in 0..<20 {
                            if Int.random(in: 0..<4) == 0 { try? await Task.sleep(for: .microseconds(200)) }
                            let error = await failure { try await bus.route(url) }
                            #expect(error == nil || error?.code == .shutDown)
                            bus.send(url)
                        }
                    }
                }
                group.addTask { await loop.shutDown() }
            }
            #expect(await bus.settles())
        }
    }

    @Test func `a deadline expires although the loop of its caller has shut down`() async throws {
        let bus = MessageBus(eventLoops: [EventLoop(), self.loop], configuration: .quiet)
        let started = Gate()
        let never = Gate()
        try bus.register("app://slow") { _ in
            started.open()
            await never.wait()
        }
        let caller = Probe(eventLoop: self.loop)
        async let error = caller.run {
            await failure { try await bus.route("app://slow", deadline: .now + Scale.whileQuick) }
        }
        await started.wait()
        await self.loop.shutDown()
        #expect(await error?.code == .deadlineExceeded)
        #expect(bus.statistics.expired == 1 && bus.statistics.inFlight == 0)
        // A loop that has already shut down does not keep its callers waiting either.
        let late = await caller.run {
            await failure { try await bus.route("app://slow", deadline: .now + .milliseconds(10)) }
        }
        #expect(late?.code == .deadlineExceeded)
        never.open()
    }

    @Test(arguments: ["app://now", "app://later"])
    func `messages in the loop's queue fail when it shuts down`(url: String) async throws {
        let (bus, _) = try self.bus(isHome: false)
        let begun = Gate()
        let held = Gate()
        try bus.register("app://hold", on: Probe(eventLoop: self.loop)) { _, _ in
            begun.open()
            held.block()
            // The shutdown begins in the last job before the loop polls.
            self.loop.beginShutDown()
        }
        bus.send("app://hold")
        await begun.wait()
        async let error = failure { try await bus.route(url) }
        #expect(await eventually { bus.statistics.sent == 2 })
        held.open()
        let code = await error?.code
        #expect(code == nil || code == .shutDown)
        #expect(await bus.settles())
    }

    @Test(arguments: [true, false])
    func `calling a handler on a loop that has shut down fails`(isHome: Bool) async throws {
        let (bus, _) = try self.bus(isHome: isHome)
        try bus.register("app://other", on: Probe(eventLoop: EventLoop())) { _, _ in }
        #expect(["app://now", "app://later", "app://other"].allSatisfy(bus.canRoute))
        await self.loop.shutDown()
        #expect(!bus.canRoute("app://now") && !bus.canRoute("app://later"))
        #expect(bus.canRoute("app://other"))
    }
}
