#if HTTP && Macros && Web
import Testing
import Waybill
import WaybillTestSupport
import WaybillWeb

/// Calls of a Swift program over HTTP, as a generated client makes them.
@Suite(.timeLimit(.minutes(2)))
struct GatewayConnectorTests {
    /// Runs a closure with a bus that reaches the server of the tests over HTTP.
    private func withBus(_ body: (MessageBus, ProbeServer) async throws -> Void) async throws {
        try await ProbeServer.run { server in
            try await server.withGateway { port in
                let bus = MessageBus(configuration: .quiet)
                try bus.connect("app", to: GatewayConnector("http://127.0.0.1:\(port)/bus", token: "secret"))
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
            let place: String = try await bus.route("app://probe/place/a%2Fb/-7?side=right")
            #expect(place == "a/b -7 right []")
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
            let task = Task { try await bus.route("app://probe/wait", as: Void.self) }
            try await Task.sleep(for: .milliseconds(200))
            task.cancel()
            await #expect(throws: (any Error).self) { try await task.value }
            #expect(await eventually { server.notes.entries == ["cancelled", "cancelled"] })
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
