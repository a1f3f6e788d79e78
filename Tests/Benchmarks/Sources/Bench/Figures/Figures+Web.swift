import Measure
import Subjects
import WaybillEventLoop

extension Figures {
    /// A server of Hummingbird with the gateway and a plain handler.
    ///
    /// A client in C requests the same JSON from both.
    static func web() throws -> [Figure] {
        let folder = try TemporaryFolder()
        let server = try WebOffice(on: EventLoop.quiet("office"), at: folder.path("web"))
        func calls(_ target: String, inFlight: Int = 1) -> @Sendable (Int) async throws -> UInt64 {
            { count in
                defer { withExtendedLifetime(folder) {} }
                return try await server.calls(target, count, inFlight: inFlight)
            }
        }
        return [
            Figure(
                "http.call-32",
                must: .ratio(1 / 0.7),
                goal: .ratio(1 / 0.9),
                subject: Subject(
                    "a call through the gateway, 32 at a time",
                    run: calls(WebOffice.gateway, inFlight: 32)
                ),
                peer: Subject("a handler of Hummingbird", run: calls(WebOffice.plain, inFlight: 32))
            ),
            Figure(
                "http.route-32",
                subject: Subject("bus.route in a handler", run: calls(WebOffice.routed, inFlight: 32)),
                peer: Subject("a handler of Hummingbird", run: calls(WebOffice.plain, inFlight: 32))
            ),
            Figure(
                "http.call",
                subject: Subject("one call after the other", run: calls(WebOffice.gateway)),
                peer: Subject("a handler of Hummingbird", run: calls(WebOffice.plain))
            ),
        ]
    }
}
