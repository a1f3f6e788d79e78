#if HTTP
import Hummingbird
import Logging
import NIOHTTP1
import Testing
import Waybill
import WaybillEventLoop
import WaybillHTTP
import WaybillTestSupport

/// The routes that report the health of a program.
@Suite(.timeLimit(.minutes(2)))
struct HealthTests {
    private let bus = MessageBus(configuration: .quiet)

    @Test func `the health routes answer, and the readiness route names the failed checks`() async throws {
        let isConnected = Locked(false)
        self.bus.addReadinessCheck("database") { isConnected.withLock { $0 } ? nil : "secret reason" }
        let gateway = WaybillGateway(self.bus, configuration: .with(\.readinessTime, .seconds(30)))
        let prepare: (Router<BasicRequestContext>) -> Void = { router in
            router.addRoutes(gateway.healthRoutes, atPath: "/bus/health")
        }
        try await GatewayServer.run(self.bus, prepare: prepare) { server in
            let host = ["Host": "10.0.0.1:8080"]
            let unready = try await server.send(.GET, "health/ready", headers: host)
            #expect(unready.status == 503)
            #expect(unready.text == #"{"failed":["database"],"status":"unavailable"}"#)
            isConnected.withLock { $0 = true }
            for name in ["live", "ready"] {
                let answer = try await server.send(.GET, "health/\(name)", headers: host)
                #expect(answer.status == 200 && answer.text == "{\"status\":\"\(name)\"}")
            }
            _ = await server.bus.shutDown()
            #expect(try await server.send(.GET, "health/ready").status == 503)
            #expect(try await server.send(.GET, "health/live").status == 200)
        }
    }

    @Test func `a readiness check is logged when it begins to fail and when it succeeds again`() async throws
    {
        let isConnected = Locked(false)
        self.bus.addReadinessCheck("database") { isConnected.withLock { $0 } ? nil : "no connection" }
        let logged = Journal<String>()
        let logger = Logger(label: "test") { _ in JournalLogHandler(journal: logged) }
        var configuration = WaybillGateway.Configuration.with(\.logger, logger)
        configuration.readinessTime = .seconds(30)
        let gateway = WaybillGateway(self.bus, configuration: configuration)
        let prepare: (Router<BasicRequestContext>) -> Void = { router in
            router.addRoutes(gateway.healthRoutes, atPath: "/bus/health")
        }
        try await GatewayServer.run(self.bus, prepare: prepare) { server in
            for isWorking in [false, false, true, true, false] {
                isConnected.withLock { $0 = isWorking }
                let answer = try await server.send(.GET, "health/ready")
                #expect(answer.status == (isWorking ? 200 : 503))
            }
        }
        let failure = "not ready name=database reason=no connection"
        #expect(logged.entries == [failure, "ready again name=database", failure])
    }

    @Test func `concurrent requests for readiness run each check once`() async throws {
        let running = Locked((now: 0, most: 0))
        self.bus.addReadinessCheck("database") {
            running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
            try? await Task.sleep(for: .milliseconds(50))
            running.withLock { $0.now -= 1 }
            return nil
        }
        let gateway = WaybillGateway(self.bus, configuration: .with(\.readinessTime, .seconds(30)))
        let prepare: (Router<BasicRequestContext>) -> Void = { router in
            router.addRoutes(gateway.healthRoutes, atPath: "/bus/health")
        }
        try await GatewayServer.run(self.bus, prepare: prepare) { server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        let answer = try await server.send(.GET, "health/ready")
                        #expect(answer.status == 200)
                    }
                }
                try await group.waitForAll()
            }
            _ = await server.bus.shutDown()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<16 {
                    group.addTask {
                        let answer = try await server.send(.GET, "health/ready")
                        #expect(answer.status == 503 && answer.text.contains("bus"))
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(running.withLock { $0.most } == 1)
    }
}
#endif
