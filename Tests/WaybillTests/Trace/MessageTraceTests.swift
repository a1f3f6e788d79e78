import Testing
import WaybillEventLoop
import WaybillTestSupport
import WaybillTesting

@testable import Waybill

@Suite(.timeLimit(.minutes(1)))
struct MessageTraceTests {
    let bus = MessageBus(configuration: .quiet)

    private var isPlain: Bool { self.bus.core.registry.chain == nil }

    @Test func `a trace measures time by the clock of the bus`() async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        try bus.register("app://slow") { _ in await clock.advance(by: .seconds(3)) }
        let trace = try bus.trace()
        try await bus.route("app://slow", as: Void.self)
        var events: [MessageTrace.Event] = []
        for await event in trace {
            events.append(event)
            if events.count == 2 { break }
        }
        #expect(events.map(\.duration) == [.zero, .seconds(3)])
        #expect(events.last?.time == events.first?.time.advanced(by: .seconds(3)))
    }

    @Test func `a trace has messages, progress replies, replies and failures`() async throws {
        try self.bus.register("app://user/:uid") { try $0.parameters.require("uid", as: Int.self) }
        try self.bus.register("app://slow/a") { message -> Int in
            await message.reply(with: "half")
            return 2
        }
        let all = try self.bus.trace()
        let some = try self.bus.trace(matching: "app://user/**")
        _ = try await self.bus.route("app://user/7", as: Int.self)
        _ = try await self.bus.route("app://slow/a", as: Int.self) { (_: String) in }
        _ = await failure { try await self.bus.route("app://nobody") }
        self.bus.send("app://user/8")
        var lines: [String] = []
        for await event in all {
            lines.append(event.description)
            if lines.count == 9 { break }
        }
        #expect(lines[0].hasSuffix("-> app://user/7"))
        #expect(lines[1].contains("<- app://user/7 after ") && lines[1].hasSuffix(": 7"))
        #expect(lines[3].contains(".. app://slow/a after ") && lines[3].hasSuffix(": half"))
        #expect(lines[4].hasSuffix(": 2"))
        #expect(lines[6].contains("!! app://nobody after ") && lines[6].contains("noRoute"))
        #expect(lines[8].hasSuffix(": 8"))
        var patterns: [String?] = []
        for await event in some {
            patterns.append(event.pattern)
            if patterns.count == 4 { break }
        }
        #expect(patterns.allSatisfy { $0 == "app://user/:uid" })
    }

    @Test(arguments: [false, true])
    func `a trace has the deadline error that the caller receives`(isDeaf: Bool) async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        let (begun, held) = (Gate(), Gate())
        try bus.register("app://slow") { _ in
            begun.open()
            if isDeaf { await held.wait() } else { try await hang() }
        }
        let trace = try bus.trace()
        async let error = failure {
            try await bus.route("app://slow", deadline: clock.now + .milliseconds(20))
        }
        await begun.wait()
        await clock.advance(by: .milliseconds(20))
        #expect(await error?.code == .deadlineExceeded)
        held.open()
        var kinds: [RoutingError.Code?] = []
        for await event in trace {
            if case .failure(let error) = event.kind { kinds.append(error.code) } else { kinds.append(nil) }
            if kinds.count == 2 { break }
        }
        #expect(kinds == [nil, .deadlineExceeded])
    }

    @Test func `tracing is off before a reader exists, and after the last one is gone`() async throws {
        try self.bus.register("app://a") { _ in 1 }
        #expect(self.isPlain)
        do {
            let trace = try self.bus.trace()
            #expect(!self.isPlain)
            _ = try await self.bus.route("app://a", as: Int.self)
            var iterator = trace.makeAsyncIterator()
            #expect(await iterator.next() != nil)
        }
        #expect(self.isPlain)
        let bus = self.bus
        let shard = try #require(bus.core.primaryShard as LoopShard?)
        let isPlain = try await Probe(eventLoop: bus.eventLoop).run {
            _ = try await bus.route("app://a", as: Int.self)
            return shard.currentSnapshot.map { $0.value.chain == nil }
        }
        #expect(isPlain == true)
    }

    @Test func `an iterator keeps its trace on`() async throws {
        try self.bus.register("app://a") { _ in 1 }
        var iterator = try self.bus.trace().makeAsyncIterator()
        _ = try await self.bus.route("app://a", as: Int.self)
        let first = await iterator.next()
        let second = await iterator.next()
        if case .message? = first?.kind {} else { Issue.record("the first event is no message") }
        if case .reply(let value)? = second?.kind {
            #expect(value as? Int == 1)
        } else {
            Issue.record("the second event is no reply")
        }
        #expect(first?.message.id == second?.message.id)
    }

    @Test func `a slow reader of a trace loses the oldest events, and counts them`() async throws {
        try self.bus.register("app://a/:n") { _ in 1 }
        let trace = try self.bus.trace(bufferLimit: 4)
        for number in 0..<10 { _ = try await self.bus.route("app://a/\(number)", as: Int.self) }
        #expect(trace.dropped == 16)
        var iterator = trace.makeAsyncIterator()
        // The messages and the replies of the last two calls remain.
        #expect(await iterator.next()?.message.parameters.url == "app://a/8")
    }

    @Test func `a trace ends when its bus is dropped`() async throws {
        let trace: MessageTrace
        do {
            let bus = MessageBus(configuration: .quiet)
            trace = try bus.trace()
        }
        for await _ in trace { Issue.record("nothing happened") }
    }

    @Test func `a trace ends when its bus shuts down, even if a handler hangs`() async throws {
        let (begun, held) = (Gate(), Gate())
        try self.bus.register("app://hangs") { _ in
            begun.open()
            await held.wait()
        }
        let trace = try self.bus.trace()
        self.bus.send("app://hangs")
        await begun.wait()
        await self.bus.shutDown()
        var count = 0
        for await _ in trace { count += 1 }
        #expect(count >= 1)
        held.open()
    }

    @Test func `a trace has the event that a subscriber exceeded the deadline`() async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        let (begun, held, ended) = (Gate(), Gate(), Gate())
        try bus.subscribe("app://slow") { _ in
            begun.open()
            await held.wait()
            ended.open()
        }
        let trace = try bus.trace()
        async let taken = bus.publish("app://slow", deadline: clock.now + .milliseconds(20))
        await begun.wait()
        await clock.advance(by: .milliseconds(20))
        #expect(try await taken == 0)
        held.open()
        await ended.wait()
        var iterator = trace.makeAsyncIterator()
        _ = await iterator.next()
        guard case .failure(let error)? = await iterator.next()?.kind else {
            Issue.record("a reply that was dropped is no reply")
            return
        }
        #expect(error.code == .deadlineExceeded)
    }
}
