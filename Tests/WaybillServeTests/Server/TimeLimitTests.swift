import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillServe

@Suite(.timeLimit(.minutes(1)))
struct TimeLimitTests {
    private func withLimits(
        on eventLoop: EventLoop,
        _ change: (inout RPCServer.Limits) -> Void,
        _ body: (Served) async throws -> Void
    ) async throws {
        var configuration = RPCServer.Configuration.quiet
        change(&configuration.limits)
        try await withServer(configuration: configuration, eventLoop: eventLoop) { served in
            try served.bus.register("app://wait") { _ in try await hang() }
            try served.bus.expose("app://**", for: .all)
            try await body(served)
        }
    }

    @Test
    func `messages beyond the rate of a connection are delayed`() async throws {
        try await self.withLimits(on: EventLoop(name: "server")) {
            $0.requestsPerSecond = 50
        } _: { served in
            let ping = #"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#
            let began = ContinuousClock.now
            let client = try await served.client()
            for _ in 0..<60 { try await client.send(ping) }
            #expect(try await client.lines(60).count == 60)
            // The first 50 messages are allowed at once, and the other ten take a fifth of a second.
            #expect(began.duration(to: .now) > .milliseconds(150))
        }
    }

    /// Runs a closure with a server on a loop whose time is advanced by a function.
    private func withManualTime(
        _ change: (inout RPCServer.Limits) -> Void,
        _ body: (Served, (Int) async -> Void) async throws -> Void
    ) async throws {
        let time = ManualTime()
        var configuration = EventLoop.Configuration()
        configuration.time = TimeSource(manual: time)
        let loop = EventLoop(name: "server", configuration: configuration)
        try await self.withLimits(on: loop, change) { served in
            try await body(served) { seconds in
                for _ in 0..<seconds {
                    let second = Deadline(after: .seconds(1), by: TimeSource(manual: time))
                    while time.ringNext(until: second) {}
                    await loop.run {}
                }
            }
        }
    }

    @Test
    func `the answer to a progress reply is awaited until the deadline of the request`() async throws {
        try await self.withManualTime { _ in
        } _: { served, pass in
            let gate = Gate()
            try served.bus.register("app://ask") { message in
                await gate.wait()
                return try await message.reply(with: 1, expecting: Int.self)
            }
            let client = try await served.client()
            let params = #"{"$waybill":{"answers":true,"progress":true,"timeLeft":10000}}"#
            try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"app://ask","params":\#(params)}"#)
            #expect(await eventually { gate.isReached })
            await pass(8)
            gate.open()
            #expect(try await client.line()?.contains("$/progress") == true)
            await pass(3)
            try #require(await eventually { served.server.statistics.requestsInFlight == 0 })
            #expect(code(try await client.line()) == -32003)
        }
    }

    @Test
    func `a publication without a response that waits for its turn is dropped at its deadline`() async throws
    {
        try await self.withManualTime {
            $0.guaranteedCalls = 1
            $0.sharedCalls = 0
        } _: { served, pass in
            let heard = Journal<String>()
            try served.bus.subscribe("app://news/:name") { heard.add($0.parameters["name"] ?? "") }
            let client = try await served.client()
            try await client.send(#"{"jsonrpc":"2.0","id":1,"method":"app://wait"}"#)
            #expect(await eventually { served.bus.statistics.inFlight == 1 })
            let late = #"{"url":"app://news/late","$waybill":{"timeLeft":1000}}"#
            for params in [late, #"{"url":"app://news/kept"}"#] {
                try await client.send(#"{"jsonrpc":"2.0","method":"$/publish","params":\#(params)}"#)
            }
            #expect(try await client.reachesServer())
            await pass(2)
            try await client.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#)
            #expect(await heard.comes(to: "kept"))
            #expect(heard.entries == ["kept"])
        }
    }

    @Test
    func `silent, halting and idle connections are closed after their times`() async throws {
        try await self.withManualTime {
            $0.messageTime = .seconds(5)
            $0.idleTime = .seconds(20)
        } _: { served, pass in
            let ping = #"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#
            let silent = try await served.client()
            let halting = try await served.client()
            let idle = try await served.client()
            let busy = try await served.client()
            try await halting.connection.write(Array(#"{"jsonrpc""#.utf8))
            for client in [idle, busy] {
                try await client.send(ping)
                _ = try await client.line()
            }
            try await busy.send(#"{"jsonrpc":"2.0","id":2,"method":"app://wait"}"#)
            #expect(await eventually { served.bus.statistics.inFlight == 1 })
            await pass(4)
            #expect(served.server.statistics.openConnections == 4)
            await pass(3)
            #expect(await silent.isClosed())
            #expect(await halting.isClosed())
            #expect(await eventually { served.server.statistics.openConnections == 2 })
            await pass(20)
            #expect(await idle.isClosed())
            #expect(!busy.connection.isClosed)
        }
    }

    @Test
    func `a client that does not read is closed, and a client that reads slowly is not`() async throws {
        try await self.withManualTime {
            $0.stallTime = .seconds(3)
            $0.messageTime = .seconds(3)
        } _: { served, pass in
            let length = 4 << 20
            try served.bus.register("app://large") { _ in String(repeating: "x", count: length) }
            let call = #"{"jsonrpc":"2.0","id":1,"method":"app://large"}"#
            let (stalled, slow) = (try await served.client(), try await served.client())
            for client in [stalled, slow] { try await client.send(call) }
            var count = try await slow.connection.read()?.count ?? length
            // The server does not await the rest of this message while the answer before it is unread. Before the
            // answer, the server would await the rest.
            try await slow.connection.write(Array(#"{"jsonrpc""#.utf8))
            // Each read covers more than the system's buffers hold, so the server sends in each second.
            for second in 1...8 {
                while count < second * length / 8 {
                    count += try await slow.connection.read()?.count ?? length
                }
                await pass(1)
            }
            #expect(count < length + 1000)
            #expect(await eventually { served.server.statistics.openConnections == 1 })
            #expect(!slow.connection.isClosed)
            withExtendedLifetime(stalled) {}
        }
    }

    @Test
    func `a subscriber that reads few bytes in each second is not closed`() async throws {
        try await self.withManualTime {
            $0.stallTime = .seconds(3)
        } _: { served, pass in
            var options = StreamOptions()
            options.readBufferSize = 2_000
            let loop = served.bus.eventLoop
            let client = RawClient(
                try await StreamConnection.connect(to: served.address, on: loop, options: options)
            )
            try await client.send(
                #"{"jsonrpc":"2.0","id":1,"method":"$/subscribe","params":{"pattern":"app://news"}}"#
            )
            #expect(try await client.line() != nil)
            // The messages fill the buffers of the system, and the rest waits in the server.
            let text = String(repeating: "x", count: 1_000)
            for _ in 0..<500 {
                try await served.bus.publish("app://news", parameters: ["text": text])
                await loop.run {}
            }
            for _ in 0..<8 {
                #expect(try await client.connection.read() != nil)
                await pass(1)
            }
            #expect(served.server.statistics.openConnections == 1)
            withExtendedLifetime(client) {}
        }
    }

    @Test
    func `a token bucket grants a second's amount at once, and then its rate`() {
        let now = ContinuousClock.now
        var bucket = TokenBucket(perSecond: 10, at: now)
        for _ in 0..<10 { #expect(bucket.take(at: now) == nil) }
        let wait = bucket.take(at: now)
        #expect(wait.map { $0 > .milliseconds(99) && $0 < .milliseconds(101) } == true)
        #expect(bucket.take(at: now + .seconds(1)) == nil)
    }
}
