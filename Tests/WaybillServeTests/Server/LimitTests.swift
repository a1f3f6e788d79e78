import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillServe

@Suite(.timeLimit(.minutes(1)))
struct LimitTests {
    private func withLimits(
        _ change: (inout RPCServer.Limits) -> Void,
        _ body: (Served) async throws -> Void
    ) async throws {
        try await self.withLimits(on: EventLoop(name: "server"), change, body)
    }

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
    func `requests in flight`() async throws {
        try await self.withLimits {
            $0.requestsInFlight = 2
        } _: { served in
            let wait = (1...3).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"app://wait"}"# }
            let client = try await served.client()
            for line in wait { try await client.send(line) }
            let line = try await client.line()
            #expect(code(line) == -32005 && line?.contains(#""id":3"#) == true)
            client.connection.close()
            #expect(await served.balances())
            // A batch counts each of its requests.
            let batch = try await served.client()
            try await batch.send("[\(wait.joined(separator: ","))]")
            for id in 1...2 {
                try await batch.send(#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":\#(id)}}"#)
            }
            let answer = try await batch.line() ?? ""
            #expect(answer.hasPrefix("[") && answer.contains("-32005") && answer.contains("-32004"))
        }
    }

    @Test
    func `subscriptions`() async throws {
        try await self.withLimits {
            $0.subscriptions = 1
        } _: { served in
            let subscribe = #"{"jsonrpc":"2.0","id":1,"method":"$/subscribe","params":{"pattern":"app://a"}}"#
            let lines = try await served.ask(subscribe, subscribe)
            #expect(code(lines[0]) == nil && code(lines[1]) == -32005)
        }
    }

    @Test
    func `connections`() async throws {
        try await self.withLimits {
            $0.connections = 2
        } _: { served in
            let ping = #"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#
            let clients = [try await served.client(), try await served.client()]
            for client in clients {
                try await client.send(ping)
                _ = try await client.line()
            }
            let third = try await served.client()
            #expect(code(try await third.line()) == -32005)
            #expect(await third.isClosed())
            clients[0].connection.close()
            #expect(await eventually { served.server.statistics.openConnections == 1 })
            #expect(try await served.ask(ping).first?.contains("pong") == true)
            // Optimized code releases them after their last use, which closes them.
            withExtendedLifetime(clients) {}
        }
    }

    @Test
    func `the size of a message, and how deep it is nested`() async throws {
        try await self.withLimits {
            $0.frameSize = 1000
            $0.depth = 4
        } _: { served in
            let deep = String(repeating: "[", count: 400)
            #expect(code(try await served.ask(deep).first) == -32700)
            let client = try await served.client()
            // Never ends, and is told off long before.
            Task {
                for _ in 0..<1000 { try await client.connection.write([UInt8](repeating: 0x5B, count: 4096)) }
            }
            #expect(code(try await client.line()) == -32600)
            #expect(await client.isClosed())
            #expect(try await served.ask(#"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#).count == 1)
        }
    }

    @Test
    func `messages per second`() async throws {
        try await self.withLimits {
            $0.requestsPerSecond = 50
        } _: { served in
            let ping = #"{"jsonrpc":"2.0","id":1,"method":"$/ping"}"#
            let began = ContinuousClock.now
            let client = try await served.client()
            for _ in 0..<60 { try await client.send(ping) }
            #expect(try await client.lines(60).count == 60)
            // The first 50 are a second's worth, and the other ten take a fifth of one.
            #expect(began.duration(to: .now) > .milliseconds(150))
        }
    }

    /// A server on a loop whose time passes by call, and the call.
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
    func `silence, half a message, and doing nothing`() async throws {
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
    func `reading nothing, and not reading slowly`() async throws {
        try await self.withManualTime {
            $0.stallTime = .seconds(3)
        } _: { served, pass in
            let length = 4 << 20
            try served.bus.register("app://large") { _ in String(repeating: "x", count: length) }
            let call = #"{"jsonrpc":"2.0","id":1,"method":"app://large"}"#
            let (stalled, slow) = (try await served.client(), try await served.client())
            for client in [stalled, slow] { try await client.send(call) }
            // More in a second than the system's buffers hold, so that the server sends in each.
            var count = 0
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
    func `a bucket gives a second's worth at once, and then its rate`() {
        let now = ContinuousClock.now
        var bucket = TokenBucket(perSecond: 10, at: now)
        for _ in 0..<10 { #expect(bucket.take(at: now) == nil) }
        let wait = bucket.take(at: now)
        #expect(wait.map { $0 > .milliseconds(99) && $0 < .milliseconds(101) } == true)
        #expect(bucket.take(at: now + .seconds(1)) == nil)
    }
}
