#if NATS
import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillRouting
import WaybillTestSupport

@testable import WaybillNATS

/// A failing network: no bytes arrive, and no end of a connection is signalled.
///
/// `WAYBILL_SOAK` sets the duration of the failure. In a separate network namespace the tests also remove the
/// network:
///
/// ```
/// unshare -rn sh -c 'ip link set lo up; WAYBILL_OWN_NETWORK=1 .build/debug/waybillPackageTests.xctest \
///     --testing-library swift-testing --filter PartitionTests'
/// ```
@Suite(.serialized, .timeLimit(.minutes(5)))
struct PartitionTests {
    enum Cut: CaseIterable, CustomTestStringConvertible {
        /// One node is cut off, and connections stay open.
        case node
        /// The network is down.
        case network

        static let ownsNetwork = ProcessInfo.processInfo.environment["WAYBILL_OWN_NETWORK"] != nil
        static var possible: [Self] { Self.ownsNetwork ? Self.allCases : [.node] }

        var testDescription: String { self == .node ? "a node is apart" : "no network" }

        func begin(_ partition: Partition) {
            if self == .node { partition.cut() } else { Self.setNetwork("down") }
        }

        func end(_ partition: Partition) {
            if self == .node { partition.heal() } else { Self.setNetwork("up") }
        }

        /// Foundation does not notice the end of a `Process` without a network, so use `system`.
        private static func setNetwork(_ state: String) {
            #expect(unsafe system("ip link set lo \(state)") == 0)
        }
    }

    private static let isLong = ProcessInfo.processInfo.environment["WAYBILL_SOAK"] != nil

    /// The tolerance of a duration on a machine that other programs use too.
    private static let slack = Scale.whileQuick / 2

    /// Runs code with a node behind a partition, and a node in another process that is not.
    private static func withPartition(
        _ body: (MessageBus, ClusterNode, Partition, LoopGap) async throws -> Void
    ) async throws {
        let server = try await NATSServer()
        defer { server.stop() }
        let partition = try await Partition(to: server.url)
        let far = try await NodeProcess("far", at: server.url)
        let bus = MessageBus(configuration: .quiet)
        var configuration = ClusterNode.Configuration()
        configuration.name = "near"
        configuration.logger = MessageBus.Configuration.quiet.logger
        let node = bus.join(
            NATSTransport(servers: [partition.url], realm: "test"),
            configuration: configuration
        )
        try await node.start()
        #expect(await eventually { node.members.contains { $0.routes.contains("app://work/slow") } })
        try await body(bus, node, partition, LoopGap(of: [bus.eventLoop]))
        let counts = bus.statistics
        #expect(counts.inFlight == 0 && node.statistics.inFlight == 0)
        node.beginGracefulShutdown()
        try await node.run()
        #expect(await far.leave() == "exit 0")
        await bus.shutDown()
        await partition.end()
    }

    @Test(arguments: Cut.possible)
    func `a partitioned node loses its calls, and its routes are complete after the partition`(
        cut: Cut
    ) async throws {
        try await Self.withPartition { bus, node, partition, gap in
            let stuck = Task {
                let error = await failure { try await bus.route("app://work/stuck") }
                return (error, ContinuousClock.now)
            }
            #expect(await eventually { node.statistics.inFlight == 1 })
            let start = ContinuousClock.now
            cut.begin(partition)
            let load = CallLoad("app://work/slow", on: bus, callers: 4)
            async let lateness = lateness(after: start + .seconds(3))
            let (error, noticed) = await stuck.value
            #expect(error?.code == .unreachable)
            let limit = await .seconds(3) + Self.slack + lateness
            #expect(noticed - start < limit)
            try await Task.sleep(until: start + .seconds(Self.isLong ? 30 : 3))
            #expect(load.count == 0)
            cut.end(partition)
            let healing = ContinuousClock.now
            #expect(await eventually { load.count > 20 })
            let healed = ContinuousClock.now - healing
            #expect(healed < .seconds(2) + Self.slack)
            let errors = await load.stop()
            #expect(errors.allSatisfy { $0.code == .unreachable }, "\(errors.last.map { "\($0)" } ?? "")")
            print(
                "\(cut.testDescription): noticed after \(noticed - start), healed after \(healed), longest gap \(gap.value)"
            )
        }
    }

    @Test func `a server that accepts and never answers is unreachable, and another server is used`()
        async throws
    {
        let server = try await NATSServer()
        defer { server.stop() }
        let hole = try await Partition(to: server.url)
        hole.cut()
        let bus = MessageBus(configuration: .quiet)
        let gap = LoopGap(of: [bus.eventLoop])
        let alone = bus.join(NATSTransport(servers: [hole.url], realm: "test"))
        let start = ContinuousClock.now
        async let lateness = lateness(after: start + .seconds(3))
        let error = await failure { try await alone.start() }
        #expect(error?.code == .unreachable)
        let time = ContinuousClock.now - start
        let limit = await .seconds(3) + Self.slack + lateness
        #expect(time < limit)
        let node = bus.join(NATSTransport(servers: [hole.url, server.url], realm: "test"))
        try await node.start()
        node.beginGracefulShutdown()
        try await node.run()
        print("a server that never answers: unreachable after \(time), longest gap \(gap.value)")
        await bus.shutDown()
        await hole.end()
    }

    @Test func `the server disconnects a node that does not read, and the node reconnects`() async throws {
        // The server gives a client that does not read half a second, and a megabyte.
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-slow-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "nats.conf")
        try "max_pending: 1MB\nwrite_deadline: \"500ms\"\n".write(to: file, atomically: true, encoding: .utf8)
        let server = try await NATSServer(arguments: ["-c", file.path])
        defer { server.stop() }
        let partition = try await Partition(to: server.url)
        func join(_ bus: MessageBus, _ url: String, _ name: String) async throws -> ClusterNode {
            var configuration = ClusterNode.Configuration()
            configuration.name = name
            configuration.logger = MessageBus.Configuration.quiet.logger
            let node = bus.join(NATSTransport(servers: [url], realm: "test"), configuration: configuration)
            try await node.start()
            return node
        }
        let (slow, quick) = (
            MessageBus(configuration: .quiet), MessageBus(configuration: .quiet)
        )
        let heard = Tally()
        try slow.share("app://slow/**", for: .all)
        try slow.subscribe("app://slow/news") { _ in heard.add() }
        try slow.register("app://slow/one") { _ in 1 }
        let slowNode = try await join(slow, partition.url, "slow")
        let quickNode = try await join(quick, server.url, "quick")
        let gap = LoopGap(of: [slow.eventLoop, quick.eventLoop])
        #expect(await eventually { quickNode.members.contains { $0.routes == ["app://slow/one"] } })
        partition.cut()
        let text = String(repeating: "x", count: 100_000)
        for _ in 0..<200 { try await quick.publish("app://slow/news", parameters: ["text": text]) }
        // The fast node has lost nothing, and learns that the other node is gone.
        let error = await failure { try await quick.route("app://slow/one") }
        #expect(error?.code == .unreachable || error?.code == .noRoute)
        partition.heal()
        let healing = ContinuousClock.now
        #expect(await eventually { (try? await quick.route("app://slow/one", as: Int.self)) == 1 })
        print(
            "a slow consumer: \(heard.count) of 200 publications, back after \(ContinuousClock.now - healing), "
                + "longest gap \(gap.value)"
        )
        #expect(heard.count < 200)
        for (bus, node) in [(slow, slowNode), (quick, quickNode)] {
            #expect(await eventually { bus.statistics.inFlight == 0 })
            node.beginGracefulShutdown()
            try await node.run()
            await bus.shutDown()
        }
        await partition.end()
    }
}
#endif
