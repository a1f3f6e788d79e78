import Synchronization
import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillSimulation
import WaybillTestSupport

@testable import WaybillNATS

/// Simulations of cluster nodes over a message server in memory, with different seeds each day.
@Suite(.skippedByLeakChecks, .serialized, .timeLimit(.minutes(60)))
struct ClusterSimulations {
    /// Joins the cluster of a message server.
    private static func join(
        _ server: MemoryServer,
        as name: String,
        on bus: MessageBus
    ) async throws -> ClusterNode {
        var configuration = ClusterNode.Configuration()
        configuration.name = name
        configuration.heartbeatInterval = .seconds(1)
        configuration.discoveryTime = .milliseconds(10)
        configuration.logger = MessageBus.Configuration.quiet.logger
        let node = ClusterNode(bus, realm: "test", over: server.transport(), configuration: configuration)
        try await node.start()
        return node
    }

    @Test func `a node notices within three heartbeat intervals that another node has died`() async throws {
        try await simulate(seeds: 1...50) { world in
            let server = MemoryServer()
            let near = try await world.separateNode("near") { bus in
                try await Self.join(server, as: "near", on: bus)
            }
            try await Task.sleep(for: world.random.duration(in: .zero ... .seconds(1)))
            let far = try await world.separateNode("far") { bus in
                try await Self.join(server, as: "far", on: bus)
            }
            try await Task.sleep(for: world.random.duration(in: .seconds(2) ... .seconds(3)))
            let id = try #require(near.contents.members.first?.id)
            far.crash()
            let start = ContinuousClock.now
            while near.contents.members.contains(where: { $0.id == id }) {
                try await Task.sleep(for: .milliseconds(10))
            }
            #expect(ContinuousClock.now - start <= .milliseconds(3010))
        }
    }

    @Test func `each call in a cluster with crashing nodes ends once, and is handled at most once`()
        async throws
    {
        let faults = Faults(delay: .upTo(.seconds(10)), crash: .perHour(20))
        let totals = Mutex((replied: 0, failed: 0))
        try await simulate(seeds: seedsOfToday(100), faults: faults) { world in
            let server = MemoryServer()
            let handled = Mutex<[Int: Int]>([:])
            for name in ["a", "b"] {
                _ = try await world.separateNode(name) { bus in
                    try bus.share("app://work/**", for: .all)
                    try bus.register("app://work/item/:number") { message async throws -> Int in
                        let number: Int = try message.argument("number")
                        handled.withLock { $0[number, default: 0] += 1 }
                        try await bus.eventLoop.clock.sleep(for: .milliseconds(number % 50))
                        return number
                    }
                    return try await Self.join(server, as: name, on: bus)
                }
            }
            let caller = try await world.separateNode("caller") { bus in
                try await Self.join(server, as: "caller", on: bus)
            }
            let next = Mutex(0)
            try await world.clients(5) { _, random in
                for _ in 0..<6 {
                    let number = next.withLock { number in
                        number += 1
                        return number
                    }
                    let (bus, url) = (caller.bus, "app://work/item/\(number)")
                    do {
                        let reply: Int = try await bus.route(url, timeout: .seconds(60))
                        #expect(reply == number)
                        totals.withLock { $0.replied += 1 }
                    } catch {
                        totals.withLock { $0.failed += 1 }
                    }
                    try await Task.sleep(for: random.duration(in: .zero ... .seconds(5)))
                }
            }
            world.always("no call is handled twice") {
                handled.withLock { $0.values.allSatisfy { $0 == 1 } }
            }
            world.eventually("all nodes find one another again", within: .seconds(300)) {
                caller.contents.members.map(\.name).sorted() == ["a", "b"]
            }
        }
        print("calls of the cluster: \(totals.withLock { $0 })")
        #expect(totals.withLock { $0.replied > 10 * $0.failed })
    }
}
