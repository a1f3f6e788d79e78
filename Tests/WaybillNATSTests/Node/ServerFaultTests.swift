#if NATS
import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillTestSupport

@testable import WaybillNATS

/// Failures of the server between nodes of several processes.
///
/// `WAYBILL_SOAK` sets the duration of a failure.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ServerFaultTests {
    enum Fault: CaseIterable, CustomTestStringConvertible {
        case killed
        case halted

        var testDescription: String { self == .killed ? "kill -9" : "kill -STOP" }

        func begin(at server: NATSServer) {
            if self == .killed { server.kill() } else { server.halt() }
        }

        func end(at server: NATSServer) throws {
            if self == .killed { try server.restart() } else { server.goOn() }
        }
    }

    private static let isLong = ProcessInfo.processInfo.environment["WAYBILL_SOAK"] != nil

    /// The longest wait of a caller for a dead peer, on a machine that other programs use too.
    private static let patience = Duration.seconds(3) + Scale.whileQuick / 2

    @Test(arguments: Fault.allCases)
    func `calls to another process fail while the server is away, and succeed when it is back`(
        fault: Fault
    ) async throws {
        try await withCluster(.nats) { cluster in
            let server = try #require(cluster.server)
            let caller = try await cluster.node("caller", heartbeat: .seconds(1))
            let gap = LoopGap(of: [caller.bus.eventLoop])
            let far = try await NodeProcess("far", at: server.url)
            #expect(await caller.knows("app://work/slow"))
            let load = CallLoad("app://work/slow", on: caller.bus, callers: 16)
            #expect(await eventually { load.count > 50 })
            let stuck = Task {
                let error = await failure { try await caller.bus.route("app://work/stuck") }
                return (error, ContinuousClock.now)
            }
            #expect(await eventually { caller.node.statistics.inFlight > 1 })

            let start = ContinuousClock.now
            fault.begin(at: server)
            async let lateness = lateness(after: start + .seconds(3))
            let (error, end) = await stuck.value
            #expect(error?.code == .unreachable)
            let limit = await Self.patience + lateness
            #expect(end - start < limit)
            let next = await failure { try await caller.bus.route("app://work/slow") }
            #expect(next?.code == .unreachable)
            try await Task.sleep(
                until: start + (Self.isLong && fault == .halted ? .seconds(60) : .seconds(3))
            )

            let back = ContinuousClock.now
            try fault.end(at: server)
            let count = load.count
            #expect(await eventually { load.count > count + 16 })
            let healed = ContinuousClock.now - back
            #expect(healed < .seconds(2) + Scale.whileQuick / 2)
            let errors = await load.stop()
            #expect(
                errors.allSatisfy { $0.code == .unreachable },
                "\(errors.filter { $0.code != .unreachable }.prefix(3))"
            )
            #expect(await caller.balances())
            #expect(await far.leave() == "exit 0")
            print(
                "\(fault.testDescription) of the server: noticed after \(end - start), healed after \(healed), "
                    + "\(errors.count) calls failed, longest gap \(gap.value)"
            )
        }
    }

    @Test func `a node can leave although its server is gone`() async throws {
        let server = try await NATSServer()
        defer { server.stop() }
        let far = try await NodeProcess("far", at: server.url)
        server.kill()
        let start = ContinuousClock.now
        async let lateness = lateness(after: start + .seconds(1))
        #expect(await far.leave() == "exit 0")
        let time = ContinuousClock.now - start
        let limit = await .seconds(6) + lateness
        #expect(time < limit)
    }
}
#endif
