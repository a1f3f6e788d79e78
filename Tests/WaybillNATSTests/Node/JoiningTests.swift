#if NATS
import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillTestSupport

@testable import WaybillNATS

/// Joining and leaving at unusual moments.
@Suite(.timeLimit(.minutes(1)))
struct JoiningTests {
    private static var quiet: ClusterNode.Configuration {
        var configuration = ClusterNode.Configuration()
        configuration.logger = MessageBus.Configuration.quiet.logger
        return configuration
    }

    @Test func `a node that is running cannot be run again`() async throws {
        let server = try await NATSServer()
        defer { server.stop() }
        let bus = MessageBus(configuration: .quiet)
        let node = bus.join(NATSTransport(servers: [server.url], realm: "test"), configuration: Self.quiet)
        let failures = Journal<RoutingError>()
        let runs = (0..<2).map { _ in
            Task { if let error = await failure({ try await node.run() }) { failures.add(error) } }
        }
        #expect(await eventually { failures.count == 1 })
        node.beginGracefulShutdown()
        for run in runs { await run.value }
        #expect(failures.entries.map(\.code) == [.refused])
        #expect(failures.entries.first?.message == "this node is already running: call run() only once")
        await bus.shutDown()
    }

    @Test func `all callers that join at the same time receive the failure`() async throws {
        let loop = EventLoop(name: "silent")
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
        let serving = Task { try await listener.serve { _ in try await hang() } }
        guard case .tcp(_, let port) = listener.address else {
            Issue.record("the listener has no port")
            return
        }
        let bus = MessageBus(configuration: .quiet)
        let node = bus.join(
            NATSTransport(servers: ["nats://127.0.0.1:\(port)"], realm: "test"),
            configuration: Self.quiet
        )
        async let first = failure { try await node.start() }
        async let second = failure { try await node.start() }
        async let third = failure { try await node.run() }
        #expect(
            await [first?.code, second?.code, third?.code] == [.unreachable, .unreachable, .unreachable]
        )
        serving.cancel()
        await bus.shutDown()
        await loop.shutDown()
    }

    @Test func `a server that announces a negative size limit accepts no payload`() async throws {
        let loop = EventLoop(name: "server")
        let listener = try await StreamListener.bind(.tcp("127.0.0.1", port: 0), on: loop)
        let serving = Task {
            try await listener.serve { connection in
                let info =
                    #"INFO {"server_id":"x","version":"2.10.0","proto":1,"headers":true,"max_payload":-9223372036854775807}"#
                try await connection.write(Array("\(info)\r\n".utf8))
                for try await _ in connection.bytes { try await connection.write(Array("PONG\r\n".utf8)) }
            }
        }
        guard case .tcp(_, let port) = listener.address else {
            Issue.record("the listener has no port")
            return
        }
        let bus = MessageBus(configuration: .quiet)
        let transport = NATSTransport(servers: ["nats://127.0.0.1:\(port)"], realm: "test")
        let node = bus.join(transport, configuration: Self.quiet)
        let run = Task { try await node.run() }
        try await node.start()
        #expect(node.core.transport.payloadLimit == 0)
        node.beginGracefulShutdown()
        try await run.value
        serving.cancel()
        await bus.shutDown()
        await loop.shutDown()
    }

    @Test(arguments: TestCluster.Kind.allCases)
    func `a node that joins does not send requests to a node that leaves`(kind: TestCluster.Kind) async throws
    {
        try await withCluster(kind) { cluster in
            let gate = Gate()
            _ = try await cluster.node("general") { bus in
                try bus.share("app://x/**")
                try bus.register("app://x/:name") { _ in "general" }
            }
            let special = try await cluster.node(
                "special",
                heartbeat: TestCluster.shortHeartbeat,
                drainLimit: .seconds(6)
            ) { bus in
                try bus.share("app://x/special")
                try bus.register("app://x/special") { message -> String in
                    gate.reach()
                    try await hang()
                    return "special"
                }
            }
            let old = try await cluster.node("old")
            #expect(await old.knows("app://x/special"))
            let call = Task { await failure { try await old.bus.route("app://x/special") } }
            await gate.reached()
            special.node.beginGracefulShutdown()
            #expect(await eventually { !old.node.members.contains { $0.name == "special" } })
            let new = try await cluster.node("new")
            #expect(await new.knows("app://x/:name"))
            // The new node receives heartbeats of the node that leaves.
            try await Task.sleep(for: .milliseconds(1500))
            #expect(try await new.bus.route("app://x/special", as: String.self) == "general")
            call.cancel()
            _ = await call.value
        }
    }
}
#endif
