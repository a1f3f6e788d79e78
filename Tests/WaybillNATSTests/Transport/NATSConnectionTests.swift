#if NATS
import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillNATS
import WaybillNATSTestSupport
import WaybillTestSupport

/// The thread of a connection.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct NATSConnectionTests {
    @Test(arguments: [IdlePolicy.park, .spin(for: .microseconds(100)), .spin(for: .seconds(3600))])
    func `calls succeed whether the connection's thread sleeps or spins`(policy: IdlePolicy) async throws {
        let server = try await NATSServer()
        defer { server.stop() }
        let (near, far) = (MessageBus(configuration: .quiet), MessageBus(configuration: .quiet))
        try far.share("app://far/**")
        try far.register("app://far/:n") { message -> Int in try message.parameters.require("n") }
        let transport = { NATSTransport(servers: [server.url], realm: "test", idlePolicy: policy) }
        let runs = [try await Self.run(near, transport()), try await Self.run(far, transport())]
        #expect(await eventually { near.canRoute("app://far/1") })
        for number in 0..<100 {
            #expect(try await near.route("app://far/\(number)", as: Int.self) == number)
            // The pause is longer than the time for which the thread spins.
            if number % 10 == 0 { try await Task.sleep(for: .milliseconds(1)) }
        }
        for run in runs { try await run.end() }
    }

    @Test func `a node that loses its server connects to another one that the server has named`() async throws
    {
        let first = try await NATSServer(arguments: ["--cluster", "nats://127.0.0.1:-1"])
        defer { first.stop() }
        let route = try #require(first.clusterURL)
        let second = try await NATSServer(
            arguments: ["--cluster", "nats://127.0.0.1:-1", "--routes", route]
        )
        defer { second.stop() }
        let (near, far) = (MessageBus(configuration: .quiet), MessageBus(configuration: .quiet))
        try far.share("app://far/**")
        try far.register("app://far/:n") { message -> Int in try message.parameters.require("n") }
        let runs = [
            try await Self.run(near, NATSTransport(servers: [first.url], realm: "test")),
            try await Self.run(far, NATSTransport(servers: [second.url], realm: "test")),
        ]
        #expect(await eventually { (try? await near.route("app://far/1", as: Int.self)) == 1 })
        first.kill()
        #expect(await failure { try await near.route("app://far/2") }?.code == .unreachable)
        #expect(await eventually { (try? await near.route("app://far/3", as: Int.self)) == 3 })
        for run in runs { try await run.end() }
    }

    @Test func `a request while the NATS server is away fails, and is not sent later`() async throws {
        let server = try await NATSServer()
        defer { server.stop() }
        let (near, far) = (MessageBus(configuration: .quiet), MessageBus(configuration: .quiet))
        let taken = Tally()
        try far.share("app://far/**")
        try far.share("app://news/**", for: .publishing)
        try far.register("app://far/:n") { message -> Int in
            taken.add()
            return try message.parameters.require("n")
        }
        try far.subscribe("app://news/today") { _ in taken.add() }
        let transport = { NATSTransport(servers: [server.url], realm: "test") }
        let runs = [try await Self.run(near, transport()), try await Self.run(far, transport())]
        #expect(await eventually { (try? await near.route("app://far/1", as: Int.self)) == 1 })
        server.kill()
        // The first of these calls begin before the node has noticed the end of the server.
        for _ in 0..<100 {
            #expect(await failure { try await near.route("app://far/2") } != nil)
            try await near.publish("app://news/today")
        }
        try server.restart()
        #expect(await eventually { (try? await near.route("app://far/3", as: Int.self)) == 3 })
        #expect(taken.count == 2)
        #expect(near.statistics.inFlight == 0)
        for run in runs { try await run.end() }
    }

    @Test func `a message that the NATS server does not permit fails with the remedy`() async throws {
        let server = try await NATSServer(
            configuration: """
                authorization { users = [
                    { user: far, password: far }
                    { user: near, password: near, permissions: {
                        publish: { deny: ["waybill.test.call.app.far.admin.>", "waybill.test.pub.app.far.>"] }
                    } }
                ] }
                """
        )
        defer { server.stop() }
        let (near, far) = (MessageBus(configuration: .quiet), MessageBus(configuration: .quiet))
        // The subject of this route is longer than the reports of libnats.
        let long = "app://far/admin/" + String(repeating: "x", count: 300)
        try far.share("app://far/**", for: .all)
        for pattern in ["app://far/admin/\"a", long, "app://far/open"] {
            try far.register(pattern) { _ in 1 }
        }
        func transport(_ user: String) -> NATSTransport {
            var security = NATSTransport.Security()
            (security.user, security.password) = (user, user)
            return NATSTransport(servers: [server.url], realm: "test", security: security)
        }
        let runs = [try await Self.run(near, transport("near")), try await Self.run(far, transport("far"))]
        #expect(await eventually { near.canRoute("app://far/open") && near.canRoute(long) })
        for url in ["app://far/admin/\"a", long] {
            let error = await failure { try await near.route(url, timeout: .seconds(20)) }
            #expect(error?.code == .refused)
            #expect(error?.message.contains("change the permissions of the node's NATS user") == true)
        }
        let letters = Journal<String>()
        // Create the sequence here, because the task may begin after the message has failed.
        let failed = near.deadLetters
        let watch = Task { for await letter in failed { letters.add("\(letter.error.code) \(letter.url)") } }
        defer { watch.cancel() }
        try await near.publish("app://far/news?n=1")
        #expect(await letters.comes(to: "refused app://far/news"))
        #expect(try await near.route("app://far/open", as: Int.self) == 1)
        for run in runs { try await run.end() }
    }

    @Test func `an encrypted connection to NATS carries messages larger than its records`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-tls-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (key, certificate) = (folder.path + "/key.pem", folder.path + "/certificate.pem")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-keyout", key,
            "-out", certificate, "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let server = try await NATSServer(
            arguments: ["--tls", "--tlscert", certificate, "--tlskey", key]
        )
        defer { server.stop() }
        var security = NATSTransport.Security()
        security.certificateAuthorityFile = certificate
        let url = server.url.replacing("nats://", with: "tls://")
        let transport = { NATSTransport(servers: [url], realm: "test", security: security) }
        let (near, far) = (MessageBus(configuration: .quiet), MessageBus(configuration: .quiet))
        try far.share("app://far/**")
        try far.register("app://far/:n") { message -> String in
            let count: Int = try message.parameters.require("n")
            return String(repeating: "x", count: count)
        }
        let runs = [try await Self.run(near, transport()), try await Self.run(far, transport())]
        #expect(await eventually { near.canRoute("app://far/1") })
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for count in [1, 100, 20_000, 300_000, 900_000] {
                group.addTask {
                    try await near.route("app://far/\(count)", as: String.self).utf8.count == count
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        // The server rejects connections without encryption.
        await #expect(throws: RoutingError.self) {
            _ = try await Self.run(
                MessageBus(configuration: .quiet),
                NATSTransport(servers: [server.url], realm: "test")
            )
        }
        for run in runs { try await run.end() }
    }

    /// A bus that is a node of a cluster.
    private struct Run {
        let bus: MessageBus
        let task: Task<Void, any Error>

        /// Makes the node leave.
        func end() async throws {
            self.task.cancel()
            try await self.task.value
            await self.bus.shutDown()
        }
    }

    private static func run(_ bus: MessageBus, _ transport: NATSTransport) async throws -> Run {
        var configuration = ClusterNode.Configuration()
        configuration.logger = MessageBus.Configuration.quiet.logger
        let node = bus.join(transport, configuration: configuration)
        try await node.start()
        return Run(
            bus: bus,
            task: Task {
                try await withTaskCancellationHandler {
                    try await node.run()
                } onCancel: {
                    node.beginGracefulShutdown()
                }
            }
        )
    }
}
#endif
