#if HTTP && Macros && Web
import Foundation
import Testing
import Waybill
import WaybillDocuments
import WaybillEventLoop
import WaybillTestSupport
import WaybillWeb

/// Calls of a Swift program over HTTP, as a generated client makes them.
@Suite(.timeLimit(.minutes(2)))
struct GatewayConnectorTests {
    /// Runs a closure with a bus that reaches the server of the tests over HTTP.
    private func withBus(_ body: (MessageBus, ProbeServer) async throws -> Void) async throws {
        try await self.withConnector { connector, server in
            let bus = MessageBus(configuration: .quiet)
            try bus.connect("app", to: connector)
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(try await body(bus, server))
            } catch {
                outcome = .failure(error)
            }
            await bus.shutDown()
            try outcome.get()
        }
    }

    /// Runs a closure with a connector to the server of the tests.
    private func withConnector(
        _ body: (GatewayConnector, ProbeServer) async throws -> Void
    ) async throws {
        try await ProbeServer.run { server in
            try await server.withGateway { port in
                try await body(GatewayConnector("http://127.0.0.1:\(port)/bus", token: "secret"), server)
            }
        }
    }

    @Test func `values pass through the gateway unchanged`() async throws {
        try await self.withBus { bus, _ in
            var generator = SeededGenerator(seed: 11)
            for _ in 0..<50 {
                let value = Everything.random(using: &generator)
                #expect(
                    try await bus.route("app://probe/echo", parameters: ["value": value], as: Everything.self)
                        == value
                )
            }
            let place: String = try await bus.route("probe/place/a%2Fb/-7?side=right")
            #expect(place == "a/b -7 right []")
            let mixed: String = try await bus.route("probe/place/ü%2Fb/-7?side=right")
            #expect(mixed == "ü/b -7 right []")
            try await bus.route("app://probe/note", parameters: ["text": "x"], as: Void.self)
        }
    }

    @Test func `progress replies arrive in order through the gateway`() async throws {
        try await self.withBus { bus, _ in
            var seen: [Int] = []
            let sum: Int = try await bus.route(
                "app://probe/steps",
                parameters: ["count": 3, "isAnswered": false]
            ) { (step: Int) in seen.append(step) }
            #expect(sum == 0 && seen == [1, 2, 3])
        }
    }

    @Test func `errors keep their codes through the gateway, and headers arrive`() async throws {
        try await self.withBus { bus, _ in
            let failed = await #expect(throws: RoutingError.self) {
                let _: Int = try await bus.route("app://probe/fail", parameters: ["id": 9])
            }
            #expect(failed?.declared(as: OrderError.self) == .unknown(id: 9))
            let missing = await #expect(throws: RoutingError.self) {
                let _: Int = try await bus.route("app://probe/nothing")
            }
            #expect(missing?.code == .noRoute)
            let trace: String = try await bus.route("app://probe/trace", headers: ["traceparent": "00-a"])
            #expect(trace == "00-a")
        }
    }

    @Test func `a deadline or a cancellation cancels the handler behind the gateway`() async throws {
        try await self.withBus { bus, server in
            let late = await #expect(throws: RoutingError.self) {
                try await bus.route("app://probe/wait", timeout: .milliseconds(200), as: Void.self)
            }
            #expect(late?.code == .deadlineExceeded)
            let begun = server.notes.entries.count { $0 == "waits" }
            let task = Task { try await bus.route("app://probe/wait", as: Void.self) }
            #expect(await eventually { server.notes.entries.count { $0 == "waits" } == begun + 1 })
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
            // On a slow machine, the deadline may have passed before the first handler began.
            #expect(await eventually { server.notes.entries.count { $0 == "cancelled" } == begun + 1 })
        }
    }

    @Test func `the value for a return URL passes through the gateway as a payload`() async throws {
        try await self.withBus { bus, server in
            let place: String = try await bus.route("app://probe/place/ä/1#app://probe/keep")
            #expect(place == "ä 1 left []")
            #expect(await eventually { server.notes.entries == ["kept \(place)"] })
        }
    }

    @Test func `a message with a payload has its remaining time but no absolute time`() async throws {
        try await self.withBus { bus, server in
            let expiry = Journal<String?>()
            let deadlines = Journal<ContinuousClock.Instant?>()
            try server.bus.register("app://probe/expiry") { message in
                expiry.add(message.headers["ce-expirytime"])
                deadlines.add(message.deadline)
            }
            try bus.expose("app://**")
            let deadline = ContinuousClock.now + .seconds(10)
            _ = try await bus.route(
                ExternalRequest(
                    url: "app://probe/expiry",
                    deadline: deadline,
                    payload: "text",
                    origin: MessageOrigin(transport: "test")
                )
            )
            #expect(expiry.entries == [nil])
            // Without the header `Waybill-Timeout`, the gateway would allow 30 seconds.
            let arrived = try #require(deadlines.entries.first ?? nil)
            #expect(arrived < deadline + .seconds(10))
        }
    }

    @Test func `a connector reports the fingerprint of the routes behind the gateway`() async throws {
        try await self.withConnector { connector, server in
            let fingerprint = server.bus.document(of: .exposed).fingerprint
            let reported = try await connector.fingerprint()
            #expect(reported == fingerprint)
        }
        let error = await #expect(throws: RoutingError.self) {
            try await GatewayConnector("http://127.0.0.1:1/bus/").fingerprint()
        }
        #expect(error?.code == .unreachable)
    }

    @Test func `a wrong address or token is reported without the token`() async throws {
        let wrongAddress = await #expect(throws: RoutingError.self) {
            try await GatewayConnector("localhost:1/bus").fingerprint()
        }
        #expect(wrongAddress?.code == .invalidURL)
        let bus = MessageBus(configuration: .quiet)
        let connector = GatewayConnector("http://127.0.0.1:1/bus", token: "SECRET\n")
        try bus.connect("app", to: connector)
        let wrongToken = await #expect(throws: RoutingError.self) { try await connector.fingerprint() }
        let wrongCall = await #expect(throws: RoutingError.self) { try await bus.route("app://x") }
        for error in [wrongToken, wrongCall] {
            #expect(error?.code == .refused)
            #expect(String(reflecting: error).contains("SECRET") == false)
        }
        await bus.shutDown()
    }

    @Test func `a subscription to a pattern that is not exposed fails`() async throws {
        try await self.withConnector { connector, _ in
            for pattern in ["app://probe/**", "app://<nothing:x>"] {
                let error = await #expect(throws: RoutingError.self) {
                    for try await _ in connector.subscription(to: pattern) {}
                }
                #expect(error?.code == .noRoute || error?.code == .refused, "\(pattern): \(error as Any)")
            }
        }
    }

    @Test(arguments: [
        "302 Found\r\nLocation: /sign-in", "200 OK\r\nContent-Type: text/html", "204 No Content",
    ])
    func `a subscription fails when the server answers with something other than events`(
        head: String
    )
        async throws
    {
        let loop = EventLoop(name: "pages")
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
        let server = Task {
            try await listener.serve { connection in
                for try await _ in connection.bytes {
                    let answer = "HTTP/1.1 \(head)\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
                    try await connection.write(Array(answer.utf8))
                    break
                }
                connection.close()
            }
        }
        let connector = GatewayConnector("http://\(listener.address)/bus")
        let error = await #expect(throws: RoutingError.self) {
            for try await _ in connector.subscription(to: "app://news/:topic") {}
        }
        #expect(error?.code == .refused && error?.message.contains(head.prefix(3)) == true, "\(error as Any)")
        server.cancel()
    }

    @Test(arguments: ["", "\"", "{\"a\"", String(repeating: "[", count: 1000)])
    func `a value of a gateway that is not JSON is refused`(value: String) async throws {
        let loop = EventLoop(name: "broken")
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
        let server = Task {
            try await listener.serve { connection in
                for try await bytes in connection.bytes {
                    let request = String(decoding: bytes, as: UTF8.self)
                    let events = ["progress", "reply", "message"].map { "event: \($0)\ndata: \(value)\n\n" }
                    let (type, body) =
                        request.hasPrefix("GET /bus/fingerprint")
                        ? ("application/json", value) : ("text/event-stream", events.joined())
                    let head = "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nConnection: close\r\n\r\n"
                    try await connection.write(Array((head + body).utf8))
                    break
                }
                connection.close()
            }
        }
        let connector = GatewayConnector("http://\(listener.address)/bus")
        let bus = MessageBus(configuration: .quiet)
        try bus.connect("app", to: connector)
        let called = await #expect(throws: RoutingError.self) { let _: Int = try await bus.route("app://x") }
        #expect(
            called?.code == .refused && called?.message.contains("invalid value") == true,
            "\(called as Any)"
        )
        let read = await #expect(throws: RoutingError.self) {
            for try await message in connector.subscription(to: "app://x") {
                _ = try message.payload(as: Int.self)
            }
        }
        #expect(read?.code == .refused, "\(read as Any)")
        let asked = await #expect(throws: RoutingError.self) { try await connector.fingerprint() }
        #expect(asked?.code == .refused, "\(asked as Any)")
        await bus.shutDown()
        server.cancel()
    }

    /// Runs a closure with a connector to the server of the tests, behind a proxy that breaks one connection.
    private func withProxy(
        that breaking: Break,
        _ body: (GatewayConnector, ProbeServer) async throws -> Void
    ) async throws {
        try await ProbeServer.run { server in
            // A client waits for three heartbeats.
            try await server.withGateway(heartbeat: .milliseconds(200)) { port in
                // The proxy ends when the file `end` exists, and writes its address before.
                let wait = "echo $0 >address; while [ ! -e end ]; do sleep 0.05; done"
                let script = "\(Script.root)/Tests/Clients/cutting_proxy.py"
                let proxy = ["python3", script, breaking.rawValue, "\(port)"]
                async let run = Script.run(proxy + ["sh", "-c", wait], in: server.folder)
                #expect(await eventually { server.text(of: "address") != nil })
                try await body(GatewayConnector(try #require(server.text(of: "address"))), server)
                try "".write(toFile: "\(server.folder)/end", atomically: true, encoding: .utf8)
                // The proxy fails unless it has broken a connection.
                let ended = try await run
                #expect(ended.status == 0, "\(ended.output)")
            }
        }
    }

    @Test(arguments: Break.allCases)
    func `a subscription misses no message when its connection breaks`(breaking: Break) async throws {
        try await self.withProxy(that: breaking) { connector, server in
            let reading = Task {
                var seen: [Int] = []
                for try await message in connector.subscription(to: "app://news/:topic") {
                    #expect(!message.isAfterGap && message.headers.isEmpty)
                    #expect(try message.payload(as: Int.self) == nil)
                    guard message.url == "app://news/x" else { continue }
                    seen.append(try message.parameter("n", as: Int.self) ?? -1)
                    if seen.count == 6 { break }
                }
                return seen
            }
            // Publish to another topic until the subscription exists.
            while try await server.bus.publish("app://news/y") == 0 {
                try await Task.sleep(for: .milliseconds(10))
            }
            for number in 0..<6 {
                try await server.bus.publish("app://news/x", parameters: ["n": number])
            }
            #expect(try await reading.value == [0, 1, 2, 3, 4, 5])
        }
    }

    @Test(arguments: Break.allCases)
    func `a call whose connection breaks fails with unreachable`(breaking: Break) async throws {
        try await self.withProxy(that: breaking) { connector, _ in
            let bus = MessageBus(configuration: .quiet)
            try bus.connect("app", to: connector)
            let error = await #expect(throws: RoutingError.self) {
                try await bus.route(
                    "app://probe/steps",
                    parameters: ["count": 3, "isAnswered": false],
                    as: Int.self
                ) { (_: Int) in try await Task.sleep(for: .milliseconds(50)) }
            }
            #expect(error?.code == .unreachable, "\(error as Any)")
            await bus.shutDown()
        }
    }

    @Test func `a call to a gateway that is not running fails with unreachable`() async throws {
        let bus = MessageBus(configuration: .quiet)
        try bus.connect("app", to: GatewayConnector("http://127.0.0.1:1/bus/"))
        let error = await #expect(throws: RoutingError.self) {
            let _: Int = try await bus.route("app://probe/x")
        }
        #expect(error?.code == .unreachable)
        await bus.shutDown()
    }
}
#endif
