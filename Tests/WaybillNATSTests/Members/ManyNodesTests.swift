import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillTestSupport

@testable import WaybillNATS

/// Many nodes, each of which knows the patterns of all others, and many changes.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct ManyNodesTests {
    /// The work grows with the square of the number of nodes, and is slow without optimization.
    ///
    /// Builds without optimization use fewer patterns.
    private static let patterns = ProcessInfo.processInfo.environment["WAYBILL_SOAK"] == nil ? 5 : 200
    private static let count = Scale.of(50)

    @Test func `fifty nodes know each other's routes in bounded time and memory`() async throws {
        let (count, patterns) = (Self.count, Self.patterns)
        try await withCluster(.memory) { cluster in
            let before = memoryInUse()
            let start = ContinuousClock.now
            let nodes = try await withThrowingTaskGroup(of: TestCluster.Node.self) { group in
                for number in 0..<count {
                    group.addTask {
                        try await cluster.node("node \(number)", heartbeat: .seconds(5)) { bus in
                            try bus.share("app://n\(number)/**")
                            for route in 0..<patterns {
                                try bus.register("app://n\(number)/r\(route)/:id") { _ in number }
                            }
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            var isComplete = false
            while !isComplete, ContinuousClock.now - start < .seconds(100) {
                try await Task.sleep(for: .milliseconds(10))
                isComplete = nodes.allSatisfy { node in
                    node.node.core.state.withLock { state in
                        state.members.count == count - 1
                            && state.members.values.allSatisfy { $0.routeList.count == patterns }
                    }
                }
            }
            #expect(isComplete)
            let time = ContinuousClock.now - start
            print("\(count) nodes with \(patterns) patterns each know each other after \(time)")
            // For each pattern that a node learns, the limit is ten times the time of one thread without
            // optimization.
            #expect(time < .seconds(10) + .microseconds(640) * (count * count * patterns) / 2)
            if let before, let after = memoryInUse() {
                print("\((after - before) / count / 1024) KiB a node")
                #expect((after - before) / count < 4 << 20)
            }
            let last = try #require(nodes.last { $0.node.core.configuration.name != "node 2" })
            #expect(try await last.bus.route("app://n2/r4/x", as: Int.self) == 2)
        }
    }

    @Test func `a node knows a route after 20,000 others came and went`() async throws {
        try await withCluster(.memory) { cluster in
            let shop = try await cluster.node("shop") { try $0.share("app://shop/**") }
            let near = try await cluster.node("near")
            for _ in 0..<20_000 { try shop.bus.register("app://shop/cart") { _ in 1 }.cancel() }
            try shop.bus.register("app://shop/order") { _ in 2 }
            #expect(await near.knows("app://shop/order"))
            #expect(try await near.bus.route("app://shop/order", as: Int.self) == 2)
        }
    }
}
