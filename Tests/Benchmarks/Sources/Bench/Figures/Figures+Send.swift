import CMeasure
import Measure
import Subjects
import Waybill
import WaybillEventLoop

extension Figures {
    private static let million = 1_000_000

    /// The number of messages in a sample from outside of the loop.
    ///
    /// Sender and loop need both cores all the time. A sample of 3 ms has both cores in most cases. A sample
    /// of a million messages always overlaps with other programs, and then measures the scheduling of the
    /// kernel.
    private static let shortSample = 10_000

    /// Messages without a waiting caller, a million at a time on the loop.
    static func send(isQuick: Bool) throws -> [Figure] {
        let count = isQuick ? Self.million / 10 : Self.million
        let sender = try Sender(on: EventLoop.quiet("bench"))
        return [
            Figure(
                "send",
                must: .value(300),
                goal: .value(150),
                subject: Subject("send", iterations: count) { try await sender.sendOnLoop($0) },
                peer: Peers.actorCall
            ),
            Figure(
                "send.off-loop",
                must: .value(300),
                goal: .value(150),
                subject: Subject("send", iterations: Self.shortSample) {
                    try await sender.sendFromOutside($0)
                },
                peer: Peers.actorCall
            ),
            // The figure is the resident memory of the whole process, so it includes all messages that exist
            // at the same time.
            Figure("send.memory", unit: .megabytes, must: .value(16), rounds: 1) {
                let before = measure_resident()
                var most = before
                for _ in 0..<10 {
                    _ = try await sender.sendOnLoop(Self.million / 10)
                    most = max(most, measure_resident())
                    _ = try await sender.sendFromOutside(Self.million / 10)
                    most = max(most, measure_resident())
                }
                return Double(most - before) / 1e6
            },
        ]
    }
}
