#if HTTP
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import ServiceLifecycle
import Testing
import WaybillEventLoop
import WaybillJSON
import WaybillTestSupport

@testable import Waybill
@testable import WaybillConsole

/// The console counts the same messages as the bus, and costs nothing while no page is open.
@Suite(.timeLimit(.minutes(2)))
struct BooksTests {
    private let bus = MessageBus(configuration: .quiet)

    private var isPlain: Bool { self.bus.core.registry.chain == nil }

    @Test
    func `the console stops observing the bus after the last page is closed`() async throws {
        try self.bus.register("app://a") { _ in 1 }
        try await ConsoleTestServer.run(self.bus) { server in
            _ = try await server.get("api/routes")
            _ = try await server.get("api/deadletters")
            #expect(self.isPlain)
            let log = try await server.watch {
                #expect(!self.isPlain)
                _ = try await self.bus.route("app://a", as: Int.self)
            } until: {
                $0.number("counted") == 1
            }
            let id = try #require(log.rows.keys.first)
            #expect(await eventually { self.isPlain })
            #expect(try await server.get("api/flows/\(id)").status == 404)
        }
    }

    @Test
    func `the console observes the bus for a time after the page is closed`() async throws {
        try self.bus.register("app://a") { _ in 1 }
        try await ConsoleTestServer.run(self.bus, .quiet { $0.lingering = .seconds(60) }) { server in
            for count in 1...5 {
                let log = try await server.watch {
                    _ = try await self.bus.route("app://a", as: Int.self)
                } until: {
                    $0.number("counted") == count
                }
                #expect(!self.isPlain)
                let id = try #require(log.rows.keys.first)
                #expect(try await server.get("api/flows/\(id)").status == 200)
            }
        }
    }

    @Test
    func `shown and dropped messages add up to the bus's count of messages`() async throws {
        let bus = self.bus
        try bus.register("app://leaf/:n") { _ in 1 }
        try bus.register("app://tree") { message -> Int in
            bus.send("app://leaf/1")
            bus.send("app://nowhere")
            _ = try await bus.publish("app://topic")
            return try await bus.route("app://leaf/2#leaf/3", as: Int.self)
        }
        try bus.register("app://loop") { _ in try await bus.route("app://loop") }
        try bus.subscribe("app://topic") { _ in }
        try bus.subscribe("app://topic") { _ in await Task.yield() }
        try await ConsoleTestServer.run(bus) { server in
            let base = bus.statistics.sent
            let log = try await server.watch("?rows=20") {
                for number in 0..<400 {
                    _ = try await bus.route("app://tree", as: Int.self)
                    _ = await failure { try await bus.route("app://gone/\(number)") }
                    _ = try? await bus.enqueue("app://gone")
                }
                _ = await failure { try await bus.route("app://loop") }
                _ = await failure { try await bus.route("no url at all") }
                #expect(await bus.settles())
            } until: { log in
                log.number("counted") == bus.statistics.sent - base && bus.statistics.inFlight == 0
            }
            #expect((log.number("counted") ?? 0) > 3000)
            #expect(log.number("shown").map { $0 + (log.number("dropped") ?? 0) } == log.number("counted"))
            #expect((log.number("dropped") ?? 0) > 0)
            #expect(log.number("shown") == log.rows.count)
        }
    }

    @Test
    func `a pattern selects the messages that the console counts and shows`() async throws {
        try self.bus.register("app://a/:n") { _ in 1 }
        try self.bus.register("app://b/:n") { _ in 1 }
        try await ConsoleTestServer.run(self.bus) { server in
            let log = try await server.watch("?pattern=app://a/**") {
                for number in 0..<10 {
                    _ = try await self.bus.route("app://a/\(number)", as: Int.self)
                    _ = try await self.bus.route("app://b/\(number)", as: Int.self)
                }
            } until: {
                $0.number("counted") == 10 && $0.rows.count == 10
            }
            #expect(log.rows.values.allSatisfy { $0.member(named: "pattern")?.string == "app://a/:n" })
            #expect(try await server.get("api/stream?pattern=app://a/%3Cwrong:x%3E").status == 400)
        }
    }

    @Test
    func `the pattern of a page has the limits for peers`() async throws {
        try await ConsoleTestServer.run(self.bus) { server in
            let refused = try await server.get("api/stream?pattern=app://a/:n((.?)%7B400%7D)")
            #expect(refused.status == 400 && refused.text.contains("regular expression"), "\(refused.text)")
        }
    }

    @Test
    func `a flood of large values stays within the console's memory limit`() async throws {
        try self.bus.register("app://large/:n") { message in
            Array(repeating: message.parameters["n"] ?? "", count: 10_000)
        }
        let configuration = WaybillConsole.Configuration.quiet { configuration in
            configuration.memoryLimit = 4 << 20
            configuration.showsPayloads = true
            (configuration.recording.flowsPerRoute, configuration.recording.followers) = (1e6, 1e6)
        }
        try await ConsoleTestServer.run(self.bus, configuration) { server in
            let filler = String(repeating: "x", count: 1000)
            var before: Int?
            for round in 0..<4 {
                try await server.watch {
                    for number in 0..<1_000 {
                        _ = try await self.bus.route(
                            "app://large/\(number)?filler=\(filler)",
                            as: [String].self
                        )
                    }
                } until: {
                    $0.number("counted").map { $0 >= 1_000 } == true
                }
                #expect(server.console.core.recorder.state.withLock { $0.size } <= 3 << 20)
                // The first round fills the recorder.
                if round == 0 { before = memoryInUse() }
            }
            // Only some allocators report the memory in use.
            if let before, let after = memoryInUse() {
                #expect(after - before < 4 << 20, "\(after - before) bytes more")
            }
        }
    }

    @Test
    func `the console's observer does not retain the bus`() async throws {
        weak var released: BusCore?
        do {
            let bus = MessageBus(configuration: .quiet)
            released = bus.core
            let console = WaybillConsole(bus, configuration: .quiet())
            console.core.watch.begin()
            try bus.register("app://a") { _ in 1 }
            _ = try await bus.route("app://a", as: Int.self)
            bus.send("app://nowhere")
            #expect(await bus.settles())
            #expect(console.core.recorder.state.withLock { $0.count } == 2)
        }
        #expect(await eventually { released == nil })
    }

    @Test
    func `the console's event stream ends with an end event when the server ends`() async throws {
        try await ConsoleTestServer.run(self.bus) { server in
            let response = try await server.open(.GET, "api/stream", cookie: server.cookie)
            var text = ""
            for try await part in response.body {
                if text.isEmpty { await server.group.triggerGracefulShutdown() }
                text += String(buffer: part)
            }
            #expect(text.contains("event: end\n"))
        }
    }
}
#endif
