import Measure
import Subjects
import Waybill
import WaybillEventLoop

extension Figures {
    /// A caller and a module on one loop.
    static func sameLoop() throws -> [Figure] {
        let office = try Office(on: EventLoop.quiet("bench"))
        let bus = office.bus
        let caller = office.caller
        let module = office.module
        return [
            Figure(
                "route.same-loop",
                must: .ratio(3),
                goal: .ratio(1.5),
                subject: Subject("route") { try await caller.route(Office.detail, on: bus, $0) },
                peer: Peers.actorCall
            ),
            Figure(
                "route.macro",
                must: .ratio(1.1),
                subject: Subject("route") { try await caller.route(Office.macro, on: bus, $0) },
                peer: Subject("handler by hand") { try await caller.route(Office.detail, on: bus, $0) }
            ),
            Figure(
                "route.same-loop-closure",
                subject: Subject("route") { try await caller.route(Office.closure, on: bus, $0) },
                peer: Peers.directCall
            ),
            Figure(
                "route.same-loop-async",
                subject: Subject("route") { try await caller.route(Office.suspending, on: bus, $0) },
                peer: Peers.channel
            ),
            Figure(
                "route.with-deadline",
                must: .ratio(2),
                subject: Subject("route") { try await caller.routeInTime(Office.detail, on: bus, $0) },
                peer: Subject("without a deadline") { try await caller.route(Office.detail, on: bus, $0) }
            ),
            Figure(
                "route.with-deadline-raced",
                subject: Subject("route") { try await caller.routeInTime(Office.detail, on: bus, $0) },
                peer: Peers.actorCallInTime
            ),
            Figure(
                "loop.actor-call",
                subject: Subject("call") { await caller.call(module, $0) },
                peer: Peers.actorCall
            ),
        ]
    }

    /// A caller on one loop and a module on another.
    static func crossLoop() throws -> [Figure] {
        let spinning = try Self.office(.spin(for: .microseconds(200)))
        let parking = try Self.office(.park)
        return [
            Figure(
                "route.cross-loop",
                must: .value(5_000),
                goal: .value(2_000),
                subject: Subject("route") {
                    try await spinning.caller.route(Office.detail, on: spinning.bus, $0)
                },
                peer: Subject("actor call, the same loops") {
                    await spinning.caller.call(spinning.module, $0)
                }
            ),
            Figure(
                "route.cross-loop-parked",
                must: .ratio(1.2),
                goal: .ratio(1),
                subject: Subject("route") {
                    try await parking.caller.route(Office.detail, on: parking.bus, $0)
                },
                peer: Peers.asyncSend
            ),
            Figure(
                "route.cross-loop-64",
                must: .value(1_000),
                goal: .value(500),
                subject: Subject("route") { count in
                    try await parking.caller.inFlight(64, count) {
                        try await parking.caller.route(Office.detail, on: parking.bus, $0)
                    }
                },
                peer: Self.calls(in: parking)
            ),
            Figure(
                "route.cross-loop-64-async",
                subject: Subject("route, the handler awaits an actor") { count in
                    try await parking.caller.inFlight(64, count) {
                        try await parking.caller.route(Office.suspending, on: parking.bus, $0)
                    }
                },
                peer: Self.calls(in: parking)
            ),
            Figure(
                "route.cross-loop-64-spin",
                subject: Subject("route") { count in
                    try await spinning.caller.inFlight(64, count) {
                        try await spinning.caller.route(Office.detail, on: spinning.bus, $0)
                    }
                },
                peer: Self.calls(in: spinning)
            ),
        ]
    }

    /// As many calls at once, without a bus.
    private static func calls(in office: Office) -> Subject {
        Subject("actor calls, the same loops") { count in
            try await office.caller.inFlight(64, count) { await office.caller.call(office.module, $0) }
        }
    }

    private static func office(_ policy: IdlePolicy) throws -> Office {
        try Office(
            on: EventLoop.quiet("bench-caller", idlePolicy: policy),
            module: EventLoop.quiet("bench-module", idlePolicy: policy)
        )
    }
}
