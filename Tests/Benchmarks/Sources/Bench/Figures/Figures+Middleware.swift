import Measure
import Subjects
import Waybill
import WaybillEventLoop

extension Figures {
    /// Routes with two middlewares that pass messages on, and without middlewares.
    static func middleware() throws -> [Figure] {
        let loop = EventLoop.quiet("bench")
        let plain = try Office(on: loop)
        let surrounded = try Office(on: loop)
        surrounded.bus.passOn(times: 2)
        return [
            Figure(
                "route.middleware-2",
                must: .ratio(1.5),
                subject: Subject("route") {
                    try await surrounded.caller.route(Office.detail, on: surrounded.bus, $0)
                },
                peer: Subject("route without middlewares") {
                    try await plain.caller.route(Office.detail, on: plain.bus, $0)
                }
            ),
            Figure(
                "route.middleware-2-async",
                subject: Subject("route") {
                    try await surrounded.caller.route(Office.suspending, on: surrounded.bus, $0)
                },
                peer: Subject("route without middlewares") {
                    try await plain.caller.route(Office.suspending, on: plain.bus, $0)
                }
            ),
        ]
    }
}
