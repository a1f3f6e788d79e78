import CMeasure
import Measure
import Subjects
import Waybill
import WaybillEventLoop
import WaybillRouting

extension Figures {
    /// The time and the memory of very many routes.
    static func bigTable() -> [Figure] {
        let count = 100_000
        let patterns = (0..<count).map(ManyRoutes.pattern)
        return [
            Figure("table.insert-100k", unit: .milliseconds, must: .value(2_000), rounds: 3) {
                let start = MonotonicTime.now
                let table = try Self.table(patterns)
                let time = MonotonicTime.now - start
                precondition(table.count == count, "a route is missing")
                return Double(time) / 1e6
            },
            Figure("bus.register-100k", unit: .milliseconds, must: .value(2_000), rounds: 3) {
                let bus = MessageBus(eventLoop: EventLoop.quiet("bench"))
                let start = MonotonicTime.now
                for pattern in patterns { try bus.register(pattern) { _ in 0 } }
                let time = MonotonicTime.now - start
                precondition(bus.routes.count == count, "a route is missing")
                return Double(time) / 1e6
            },
            Figure("memory.100k-routes", unit: .megabytes, must: .value(60), goal: .value(20), rounds: 1) {
                let before = measure_heap_in_use()
                let table = try Self.table(patterns)
                let after = measure_heap_in_use()
                precondition(table.count == count, "a route is missing")
                return (Double(after) - Double(before)) / 1e6
            },
        ]
    }
}
