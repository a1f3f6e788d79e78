import Measure
import Subjects
import Waybill
import WaybillEventLoop

extension Figures {
    /// The figures of delivery rules, such as serial modules and deadlines.
    static func delivery() throws -> [Figure] {
        let desk = try SerialDesk(on: EventLoop.quiet("bench"))
        let waiting = try WaitingRoom(on: EventLoop.quiet("bench"))
        return [
            Figure(
                "serial.route",
                must: .value(250),
                subject: Subject("route") { try await desk.route($0) },
                peer: Peers.channel
            ),
            Figure(
                "serial.send",
                must: .value(250),
                subject: Subject("send") { try await desk.send($0) },
                peer: Peers.stream
            ),
            Self.deadlines("deadlines.10k", waiting, isOutside: false),
            Self.deadlines("deadlines.10k-outside", waiting, isOutside: true),
        ]
    }

    /// The cost of a deadline for each of ten thousand waiting callers, when no deadline passes.
    private static func deadlines(_ name: String, _ room: WaitingRoom, isOutside: Bool) -> Figure {
        Figure(name, unit: .nanoseconds, must: .value(1_000)) {
            // The figure is the difference of two long times. The shortest sample of each is used, because it
            // is disturbed least.
            var (with, without) = (UInt64.max, UInt64.max)
            for _ in 0..<11 {
                with = min(with, try await room.wait(inTime: true, isOutside: isOutside))
                without = min(without, try await room.wait(inTime: false, isOutside: isOutside))
            }
            return max(0, Double(with) - Double(without)) / Double(WaitingRoom.count)
        }
    }
}
