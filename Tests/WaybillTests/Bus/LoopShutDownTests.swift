import Testing
import Waybill
import WaybillEventLoop

/// When a loop stops under a bus, nobody hangs.
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
    func `what is pending on the loop fails at once`(isHome: Bool) async throws {
        let (bus, started) = try self.bus(isHome: isHome)
        async let error = failure { try await bus.route("app://slow") }
        await started.wait()
        await self.loop.shutDown()
        #expect(await error?.code == .shutDown)
        #expect(await bus.settles())
    }

    @Test(arguments: [true, false], ["app://now", "app://later", "app://slow"])
    func `what comes later fails as well`(isHome: Bool, url: String) async throws {
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

    @Test func `another loop's modules go on`() async throws {
        let bus = MessageBus(eventLoops: [EventLoop(), self.loop], configuration: .quiet)
        try bus.register("app://a") { _ in 1 }
        await self.loop.shutDown()
        #expect(try await bus.route("app://a", as: Int.self) == 1)
    }

    @Test func `whoever routes while the loop stops gets an answer or a reason`() async throws {
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
}
