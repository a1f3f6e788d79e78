#if NATS
import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillTestSupport

@testable import WaybillNATS

/// Nodes in separate processes, which start and end while they are called.
///
/// `WAYBILL_SOAK` sets the duration of the tests.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct ClusterProcessTests {
    private struct Item: Codable, Sendable, Equatable {
        let id: Int
        let node: String
    }

    private static let isLong = ProcessInfo.processInfo.environment["WAYBILL_SOAK"] != nil

    /// The longest permitted gap of a loop, on a machine that other programs use too.
    ///
    /// On a quiet machine the gap is 5 ms.
    private static let longestGap = Duration.seconds(5)

    /// Runs code with a node of this process and nodes in other processes.
    private static func withProcesses(
        _ names: [String],
        _ body: (TestCluster.Node, inout [NodeProcess], NATSServer) async throws -> Void
    ) async throws {
        try await withCluster(.nats) { cluster in
            let server = try #require(cluster.server)
            let caller = try await cluster.node("caller", heartbeat: .seconds(1))
            let gap = LoopGap(of: [caller.bus.eventLoop])
            var processes: [NodeProcess] = []
            for name in names { processes.append(try await NodeProcess(name, at: server.url)) }
            #expect(await eventually { caller.node.members.count == names.count })
            try await body(caller, &processes, server)
            #expect(await caller.balances())
            print("longest gap of the caller's loop: \(gap.value)")
            #expect(gap.value < Self.longestGap)
        }
    }

    @Test func `a route of another process is called like a local one`() async throws {
        try await Self.withProcesses(["far"]) { caller, _, _ in
            let bus = caller.bus
            #expect(try await bus.route("app://work/item/7", as: Item.self) == Item(id: 7, node: "far"))
            let answers: [Int] = try await bus.route("app://work/ask") { (number: Int) in number * 10 }
            #expect(answers == [10, 20, 30])
            let broken = await failure { try await bus.route("app://work/broken") }
            #expect(broken?.code == .handlerFailed)
            #expect(broken?.route == "app://work/broken")
            #expect(broken.map { "\($0)" }?.contains("the disk is full") == true)
            let mistyped = await failure { try await bus.route("app://work/brokn") }
            #expect(mistyped?.code == .noRoute)
            #expect(mistyped?.message.contains("app://work/broken") == true)
            let items = Journal<Item>()
            try bus.register("app://caller/item") { message in
                items.add(try message.payload(as: Item.self))
            }
            try await bus.route("app://work/item/8#app://caller/item")
            #expect(await eventually { items.entries == [Item(id: 8, node: "far")] })
        }
    }

    @Test func `deadlines, cancellation and publications reach a node in another process`() async throws {
        try await Self.withProcesses(["far"]) { caller, _, _ in
            let bus = caller.bus
            let notes = Journal<String>()
            try bus.share("app://caller/**")
            try bus.register("app://caller/note") { message in notes.add(try message.argument("text")) }
            // The other process learns a moment later that this node receives notes.
            let isHeard = await eventually {
                _ = try? await bus.publish("app://work/news?text=one")
                return notes.entries.contains("news one")
            }
            #expect(isHeard)
            func noted(_ text: String) -> Int { notes.entries.count { $0 == text } }
            let overdue = await failure {
                try await bus.route("app://work/stuck", deadline: .now + Scale.untilBegun)
            }
            #expect(overdue?.code == .deadlineExceeded)
            #expect(await eventually { noted("started") == 1 && noted("cancelled") == 1 })
            let call = Task { try await bus.route("app://work/stuck") }
            #expect(await eventually { noted("started") == 2 })
            call.cancel()
            #expect(await eventually { noted("cancelled") == 2 })
            let error = await failure { try await call.value }
            #expect(error?.code == .cancelled)
        }
    }

    @Test func `when one of three processes is killed under load, only requests to it are lost`()
        async throws
    {
        try await Self.withProcesses(["a", "b", "c"]) { caller, processes, _ in
            let load = CallLoad("app://work/slow", on: caller.bus, callers: 16)
            #expect(await eventually { load.replies.count == 3 })
            processes[1].kill()
            #expect(await eventually { caller.node.members.map(\.name) == ["a", "c"] })
            let before = load.count
            #expect(await eventually { load.count > before + 500 })
            let errors = await load.stop()
            #expect(errors.count <= 16)
            #expect(errors.allSatisfy { $0.code == .unreachable && $0.message.contains("the node b (") })
            #expect(caller.node.statistics.lost == errors.count)
        }
    }

    @Test func `restarting three processes in turn under load makes no call fail`()
        async throws
    {
        try await Self.withProcesses(["a", "b", "c"]) { caller, processes, server in
            let load = CallLoad("app://work/slow", on: caller.bus, callers: 16)
            for round in 1...(Self.isLong ? 10 : 2) {
                for index in processes.indices {
                    let end = await processes[index].leave()
                    #expect(end == "exit 0")
                    processes[index] = try await NodeProcess("\(index) of \(round)", at: server.url)
                }
            }
            #expect(await eventually { caller.node.members.count == 3 })
            let errors = await load.stop()
            #expect(errors.isEmpty, "\(errors.prefix(3))")
            #expect(load.replies.count >= 6)
        }
    }
}
#endif
