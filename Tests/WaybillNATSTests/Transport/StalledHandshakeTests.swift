#if NATS
import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillRouting
import WaybillTestSupport

@testable import WaybillNATS

/// A server that stalls in the TLS handshake, for which libnats has no time limit.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct StalledHandshakeTests {
    /// A bus, and a server of each kind.
    private struct Setting {
        let bus = MessageBus(configuration: .quiet)
        let good: NATSServer
        let stalling: StallingServer

        init() async throws {
            self.good = try await NATSServer()
            self.stalling = try await StallingServer(on: self.bus.eventLoop)
        }

        func node(servers: [String]) -> ClusterNode {
            var configuration = ClusterNode.Configuration()
            configuration.logger = MessageBus.Configuration.quiet.logger
            return self.bus.join(
                NATSTransport(servers: servers, realm: "test"),
                configuration: configuration
            )
        }

        func end() async {
            self.stalling.stop()
            self.good.stop()
            await self.bus.shutDown()
        }
    }

    @Test func `a node fails to join through a server that stalls in the TLS handshake`() async throws {
        let setting = try await Setting()
        let start = ContinuousClock.now
        async let lateness = lateness(after: start + .seconds(4))
        let error = await failure { try await setting.node(servers: [setting.stalling.url]).start() }
        let time = ContinuousClock.now - start
        #expect(error?.code == .unreachable)
        #expect(error?.message.contains("has not completed the connection within 4 seconds") == true)
        let limit = await .seconds(6) + lateness
        #expect(time < limit)
        #expect(setting.stalling.count == 1)
        await setting.end()
    }

    @Test func `a node joins through another server than the one that stalls`() async throws {
        let setting = try await Setting()
        // The order of the servers is random, so several nodes may be necessary until one tries both servers.
        while setting.stalling.count == 0 {
            let node = setting.node(servers: [setting.stalling.url, setting.good.url])
            try await node.start()
            node.beginGracefulShutdown()
            try await node.run()
        }
        await setting.end()
    }

    @Test func `a node without its server tries the one that stalls, and returns to its own`() async throws {
        let setting = try await Setting()
        let far = setting.node(servers: [setting.good.url, setting.stalling.url])
        try await far.start()
        let run = Task { try await far.run() }
        let before = setting.stalling.count
        setting.good.kill()
        #expect(await eventually { setting.stalling.count > before })
        try setting.good.restart()
        let near = MessageBus(configuration: .quiet)
        let witness = near.join(NATSTransport(servers: [setting.good.url], realm: "test"))
        #expect(await eventually { (try? await witness.start()) != nil })
        #expect(await eventually { !witness.members.isEmpty })
        far.beginGracefulShutdown()
        try await run.value
        witness.beginGracefulShutdown()
        try await witness.run()
        await near.shutDown()
        await setting.end()
    }

    @Test func `a node leaves at once while a server stalls in the TLS handshake`() async throws {
        let setting = try await Setting()
        let node = setting.node(servers: [setting.good.url, setting.stalling.url])
        try await node.start()
        let run = Task { try await node.run() }
        let before = setting.stalling.count
        setting.good.kill()
        #expect(await eventually { setting.stalling.count > before })
        let start = ContinuousClock.now
        node.beginGracefulShutdown()
        try await run.value
        // Waiting for the end of the attempt would take four seconds.
        #expect(ContinuousClock.now - start < .seconds(3))
        await setting.end()
    }

    @Test func `a client that connects after its attempt was abandoned is closed`() async throws {
        let server = try await NATSServer()
        defer { server.stop() }
        let loop = EventLoop(name: "late")
        let poller = try NATSPoller()
        let (isAbandoned, reported, clients) = (Flag(), Tally(), Journal<NATSClient>())
        let events = NATSEvents(on: loop, of: Subjects(realm: "test")) { _ in
            reported.add()
            return true
        }
        let attempt = NATSAttempt(to: server.url, waking: poller) { () throws(RoutingError) in
            while !isAbandoned.isRaised { usleep(1000) }
            let client = try NATSClient(
                to: server.url,
                security: NATSTransport.Security(),
                events: events,
                poller: poller
            )
            clients.add(client)
            return client
        }
        #expect(throws: RoutingError.self) { try attempt.takeResult().get() }
        #expect(attempt.isStalled)
        isAbandoned.raise()
        #expect(await eventually { !attempt.isStalled })
        let client = try #require(clients.entries.first)
        #expect(!client.isConnected)
        #expect(!client.socket.isAttached)
        #expect(reported.count == 0)
        await loop.shutDown()
    }
}
#endif
