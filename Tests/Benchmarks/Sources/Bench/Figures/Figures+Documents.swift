import Measure
import Subjects
import Waybill
import WaybillDocuments
import WaybillEventLoop

extension Figures {
    /// The cost of the document of a program with many routes.
    static func documents() throws -> [Figure] {
        let bus = MessageBus(eventLoop: EventLoop.quiet("documents"))
        for index in 0..<1_000 {
            try bus.register("\(ManyRoutes.pattern(index))/<int:id>") { _ in Documented() }
        }
        return [
            Figure("documents.1000", unit: .milliseconds, must: .value(200), rounds: 3) {
                let start = MonotonicTime.now
                let text = bus.document().text(as: .asyncAPI)
                let time = MonotonicTime.now - start
                precondition(text.utf8.count > 100_000, "a route is missing")
                return Double(time) / 1e6
            }
        ]
    }
}

/// The reply type of the routes.
private struct Documented: Codable, Sendable {
    var uid = 7
    var name = "Lili"
}
