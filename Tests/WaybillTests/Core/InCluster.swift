import Foundation
import Testing
import Waybill
import WaybillNATS
import WaybillNATSTestSupport
import WaybillTestSupport

/// The modules of a test on one node of a cluster, and their caller on another.
enum InCluster {
    /// The schemes that are shared.
    private static let schemes = ["app", "other"]

    /// Runs code with the buses of two nodes, which a server of the given kind connects.
    static func run(_ kind: TestCluster.Kind, _ body: (CalledModules) async throws -> Void) async throws {
        try await withCluster(kind) { cluster in
            let modules = try await cluster.node("modules", heartbeat: .seconds(1)) { bus in
                for scheme in Self.schemes { try bus.share("\(scheme)://**", for: .all) }
            }
            let caller = try await cluster.node("caller", heartbeat: .seconds(1))
            try await body(
                CalledModules(bus: modules.bus, caller: caller.bus, place: .cluster) {
                    Self.waitUntil(caller, knows: modules.bus)
                }
            )
        }
    }

    /// Waits until a node knows the routes of a bus, because an announcement takes some time.
    ///
    /// The function blocks the thread of the test, which does not run a loop.
    private static func waitUntil(_ node: TestCluster.Node, knows bus: MessageBus) {
        let end = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < end {
            let shared = Set(bus.exposedRoutes(to: .nodes).map { bus.withScheme($0.pattern) })
            let known = node.node.members.first { $0.name == "modules" }.map { Set($0.routes) }
            if shared == known ?? [] { return }
            Thread.sleep(forTimeInterval: 0.000_2)
        }
        Issue.record("the node of the caller has not learned the routes of the modules")
    }
}
