#if HTTP
import AsyncHTTPClient
import NIOHTTP1
import ServiceLifecycle
import Testing
import Waybill
import WaybillEventLoop
import WaybillHTTP
import WaybillTestSupport

/// Server-sent events: progress replies and subscriptions.
@Suite(.timeLimit(.minutes(2)))
struct StreamTests {
    private let bus = MessageBus(configuration: .quiet)

    @Test
    func `a streamed call's progress replies, reply and failure are events`() async throws {
        try self.bus.register("app://count") { message -> String in
            let end = try message.parameters.require("to", as: Int.self)
            for number in 1...end { await message.reply(with: number) }
            return "done"
        }
        try self.bus.expose("app://count")
        try await GatewayServer.run(self.bus) { server in
            let events = try await server.events(.POST, "app/count", body: "{\"to\":3}")
            #expect(events.response.status == .ok)
            #expect(events.response.headers.first(name: "Content-Type") == "text/event-stream")
            for number in 1...3 {
                #expect(try await events.next() == .init(name: "progress", data: "\(number)"))
            }
            #expect(try await events.next() == .init(name: "reply", data: "\"done\""))
            #expect(try await events.next() == nil)
            let failed = try await server.events(.POST, "app/count")
            let failure = try await failed.next()
            #expect(failure?.name == "failure" && failure?.data.contains("missingParameter") == true)
            #expect(try await failed.next() == nil)
            #expect(try await server.events(.POST, "app/nowhere").response.status == .notFound)
        }
    }

    @Test
    func `a progress reply is sent to the client at once`() async throws {
        let (numbers, source) = AsyncStream.makeStream(of: Int.self)
        try self.bus.register("app://wait") { message in
            for await number in numbers { await message.reply(with: number) }
        }
        try self.bus.expose("app://wait")
        try await GatewayServer.run(self.bus, .with(\.heartbeat, .milliseconds(10))) { server in
            let events = try await server.events(.POST, "app/wait")
            var number = 0
            // The handler still waits, and comments keep the stream open.
            repeat {
                number += 1
                source.yield(number)
                #expect(try await events.next() == .init(name: "progress", data: "\(number)"))
                try await Task.sleep(for: .milliseconds(20))
            } while events.comments == 0 && number < 1_000
            source.finish()
            #expect(try await events.next() == .init(name: "reply", data: "null"))
        }
    }

    @Test
    func `a client that does not read the last event of a stream is disconnected`() async throws {
        try self.bus.register("app://large") { _ in String(repeating: "x", count: 32 << 20) }
        try self.bus.expose("app://large")
        try self.bus.expose("app://news/**", for: .subscribing)
        var configuration = WaybillGateway.Configuration.quiet
        configuration.stallTime = .seconds(1)
        configuration.streamLimit = 1
        try await GatewayServer.run(self.bus, configuration) { server in
            let accept = ["Accept": "text/event-stream"]
            let stalled = try await server.open(.POST, "app/large", headers: accept)
            #expect(stalled.status == .ok)
            #expect(
                await eventually {
                    (try? await server.open(.GET, "subscribe?pattern=app://news/**"))?.status == .ok
                }
            )
            withExtendedLifetime(stalled) {}
        }
    }

    @Test
    func `a client that leaves a streamed call cancels its handler`() async throws {
        let cancelled = Gate()
        try self.bus.register("app://wait") { message in
            await message.reply(with: 1)
            do { try await hang() } catch { cancelled.open() }
        }
        try self.bus.expose("app://wait")
        try await GatewayServer.run(self.bus) { server in
            let reader = Task {
                let events = try await server.events(.POST, "app/wait")
                _ = try await events.next()
                return try await events.next()
            }
            #expect(await eventually { server.bus.statistics.inFlight == 1 })
            try await Task.sleep(for: .milliseconds(20))
            reader.cancel()
            await cancelled.wait()
            #expect(await server.bus.settles())
        }
    }

    @Test
    func `a subscriber receives only the messages that are exposed for subscribing`() async throws {
        try self.bus.expose("app://prices/:symbol", for: .subscribing)
        try await GatewayServer.run(self.bus) { server in
            #expect(try await server.send(.GET, "subscribe").status == 400)
            #expect(try await server.send(.GET, "subscribe?pattern=app://a/%3Citn:id%3E").status == 400)
            let events = try await server.events(.GET, "subscribe?pattern=app://**")
            let others = try await server.events(.GET, "subscribe?pattern=app%3A%2F%2F%2A%2A")
            #expect(events.response.status == .ok)
            let closure: @Sendable () -> Void = {}
            try await server.bus.publish("app://secret")
            try await server.bus.publish("app://prices/A?b=c", parameters: ["price": 1.5, "then": closure])
            for reader in [events, others] {
                let event = try await reader.next()
                #expect(event?.name == "message" && event?.id.hasSuffix("-1") == true)
                #expect(event?.data.contains("\"b\":\"c\",\"price\":1.5}") == true)
                #expect(event?.data.contains("\"url\":\"app://prices/A?b=c\"") == true)
            }
        }
    }

    @Test
    func `a client that reconnects receives the events that it missed, or a gap event`() async throws {
        try self.bus.expose("app://n/:n", for: .subscribing)
        try await GatewayServer.run(self.bus, .with(\.replayLimit, 5)) { server in
            let path = "subscribe?pattern=app://n/:n"
            let first = try await server.events(.GET, path)
            for number in 1...3 { try await server.bus.publish("app://n/\(number)") }
            let id = try #require(try await first.next()).id
            #expect(id.hasSuffix("-1"))
            let second = try await server.events(.GET, path, headers: ["Last-Event-ID": id])
            #expect(try await second.next()?.id.hasSuffix("-2") == true)
            #expect(try await second.next()?.id.hasSuffix("-3") == true)
            for number in 4...10 { try await server.bus.publish("app://n/\(number)") }
            #expect(try await eventually { try await second.next()?.id.hasSuffix("-10") == true })
            let third = try await server.events(.GET, path, headers: ["Last-Event-ID": id])
            let gap = try await third.next()
            #expect(gap?.name == "gap" && gap?.data == "{\"missed\":4}" && gap?.id.hasSuffix("-5") == true)
            #expect(try await third.next()?.id.hasSuffix("-6") == true)
            var readers: [EventReader] = []
            for unknown in ["7-1", "nonsense", "\(id)9", id.dropLast(1) + "-1", ""] {
                let reader = try await server.events(.GET, path, headers: ["Last-Event-ID": String(unknown)])
                let gap = try await reader.next()
                #expect(gap?.name == "gap" && gap?.data == "{\"missed\":null}")
                #expect(gap?.id.hasSuffix("-10") == true)
                readers.append(reader)
            }
            try await server.bus.publish("app://n/11")
            for reader in readers { #expect(try await reader.next()?.id.hasSuffix("-11") == true) }
        }
    }

    @Test
    func `a subscription ends some time after its last client has left`() async throws {
        try self.bus.expose("app://x", for: .subscribing)
        try await GatewayServer.run(self.bus, .with(\.replayTime, .milliseconds(20))) { server in
            let reader = Task {
                let events = try await server.events(.GET, "subscribe?pattern=app://x")
                return try await events.next()
            }
            #expect(try await eventually { try await server.bus.publish("app://x") == 1 })
            _ = try await reader.value
            #expect(try await eventually { try await server.bus.publish("app://x") == 0 })
        }
    }

    @Test
    func `a stream beyond the limit is rejected with 429`() async throws {
        try self.bus.expose("app://x", for: .subscribing)
        try await GatewayServer.run(self.bus, .with(\.streamLimit, 2)) { server in
            let path = "subscribe?pattern=app://x"
            let streams = [try await server.events(.GET, path), try await server.events(.GET, path)]
            let third = try await server.send(.GET, path)
            #expect(third.status == 429 && third.headers.first(name: "Retry-After") == "1")
            #expect(streams.allSatisfy { $0.response.status == .ok })
        }
    }

    @Test
    func `a request for a stream with a body is rejected, and takes no place`() async throws {
        try self.bus.expose("app://x", for: .subscribing)
        try await GatewayServer.run(self.bus, .with(\.streamLimit, 1)) { server in
            let connection = try await server.connect()
            let head = "GET /bus/subscribe?pattern=app://x HTTP/1.1\r\nHost: localhost\r\n"
            let chunks = String(repeating: "1\r\na\r\n", count: 8)
            try await connection.write(
                Array("\(head)Transfer-Encoding: chunked\r\n\r\n\(chunks)0\r\n\r\n".utf8)
            )
            var bytes = connection.bytes.makeAsyncIterator()
            let response = String(decoding: try await bytes.next() ?? [], as: UTF8.self)
            #expect(response.hasPrefix("HTTP/1.1 413 "))
            connection.close()
            let isFree = try await eventually {
                try await server.open(.GET, "subscribe?pattern=app://x").status == .ok
            }
            #expect(isFree)
        }
    }

    @Test
    func `a request for a stream subscribes only when its body has arrived`() async throws {
        try self.bus.expose("app://x", for: .subscribing)
        try await GatewayServer.run(self.bus) { server in
            let connection = try await server.connect()
            let head = "GET /bus/subscribe?pattern=app://x HTTP/1.1\r\nHost: localhost\r\n"
            try await connection.write(Array("\(head)Content-Length: 1\r\n\r\n".utf8))
            for _ in 0..<20 {
                #expect(try await self.bus.publish("app://x") == 0)
                try await Task.sleep(for: .milliseconds(10))
            }
            connection.close()
        }
    }

    @Test(arguments: [false, true])
    func `shutting down the gateway ends each stream with a last event`(isBus: Bool) async throws {
        try self.bus.register("app://wait") { _ in try await hang() }
        try self.bus.expose("app://wait", for: [.calls, .subscribing])
        try await GatewayServer.run(self.bus) { server in
            let call = try await server.events(.POST, "app/wait")
            let subscription = try await server.events(.GET, "subscribe?pattern=app://**")
            #expect(await eventually { server.bus.statistics.inFlight == 1 })
            let start = ContinuousClock.now
            if isBus { _ = await server.bus.shutDown() } else { await server.group.triggerGracefulShutdown() }
            let last = try await call.next()
            #expect(last?.name == (isBus ? "failure" : "end"))
            #expect(try await subscription.next()?.name == "end")
            #expect(try await call.next() == nil)
            #expect(try await subscription.next() == nil)
            #expect(ContinuousClock.now - start < Scale.whileQuick * 2)
            #expect(await server.bus.settles())
        }
    }
}
#endif
