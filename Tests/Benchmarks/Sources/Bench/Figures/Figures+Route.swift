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
        let route = Subject("route.same-loop") { try await caller.route(Office.detail, on: bus, $0) }
        let task = Subject("Task.immediate { }.value, the same loop") { await module.answerInTasks($0) }
        return [
            Figure(
                "route.same-loop",
                must: .ratio(2.5),
                goal: .ratio(1.5),
                subject: route,
                peer: Peers.actorCall
            ),
            Figure(
                "route.module",
                must: .ratio(1.1),
                subject: Subject("route") { try await caller.route(Office.module, on: bus, $0) },
                peer: route
            ),
            Figure(
                "route.same-loop-closure",
                subject: Subject("route") { try await caller.route(Office.closure, on: bus, $0) },
                peer: Peers.directCall
            ),
            Figure(
                "route.same-loop-async",
                must: .ratio(3),
                goal: .ratio(1.6),
                subject: Subject("route") { try await caller.route(Office.ready, on: bus, $0) },
                peer: task
            ),
            Figure(
                "route.same-loop-async-on",
                must: .ratio(3.6),
                goal: .ratio(2),
                subject: Subject("route") { try await caller.route(Office.readyOn, on: bus, $0) },
                peer: task
            ),
            Figure(
                "route.same-loop-suspending",
                subject: Subject("route") { try await caller.route(Office.suspending, on: bus, $0) },
                peer: Peers.channel
            ),
            Figure(
                "route.with-deadline",
                must: .ratio(2),
                subject: Subject("route") { try await caller.routeInTime(Office.detail, on: bus, $0) },
                peer: route
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

    /// Other kinds of calls to the same handler, and calls on another loop of the bus.
    static func sameLoopOtherwise() throws -> [Figure] {
        let office = try Office(on: EventLoop.quiet("bench"))
        let service = try office.service
        let second = try Office(on: EventLoop.quiet("bench-second"), first: EventLoop.quiet("bench-first"))
        let route = Subject("route.same-loop") {
            try await office.caller.route(Office.detail, on: office.bus, $0)
        }
        return [
            Figure(
                "service.call",
                must: .ratio(1.5),
                goal: .ratio(1),
                subject: Subject("call") { try await office.caller.call(service, $0) },
                peer: route
            ),
            Figure(
                "route.typed-url",
                must: .ratio(1.5),
                goal: .ratio(0.8),
                subject: Subject("route") { try await office.caller.routeTypedURLs(on: office.bus, $0) },
                peer: route
            ),
            Figure(
                "route.second-loop",
                must: .ratio(1.1),
                goal: .ratio(1),
                subject: Subject("route") {
                    try await second.caller.route(Office.detail, on: second.bus, $0)
                },
                peer: route
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
                must: .ratio(1.5),
                goal: .ratio(1),
                subject: Subject("route") { count in
                    try await parking.caller.inFlight(64, count) {
                        try await parking.caller.route(Office.detail, on: parking.bus, $0)
                    }
                },
                peer: Self.calls(in: parking)
            ),
            Figure(
                "route.cross-loop-64-async",
                must: .ratio(3),
                goal: .ratio(1.5),
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

    /// Returns a subject of 64 concurrent actor calls without a bus.
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
