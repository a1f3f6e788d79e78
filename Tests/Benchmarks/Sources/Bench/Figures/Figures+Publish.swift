import Measure
import Subjects
import Waybill
import WaybillEventLoop

extension Figures {
    /// One message for a hundred subscribers.
    static func publish() throws -> [Figure] {
        let bus = MessageBus(eventLoop: EventLoop.quiet("bench"))
        for _ in 0..<100 {
            try bus.subscribe("app://user/seen") { message in
                let uid: Int = try message.parameters.require("uid")
                precondition(uid > 0, "a parameter was wrong")
            }
        }
        let caller = Caller(eventLoop: bus.eventLoop)
        let urls = UserURLs("app://user/seen")
        return [
            Figure(
                "publish.100",
                subject: Subject("publish") { try await caller.publish(urls, on: bus, $0) },
                peer: Peers.hundredActorCalls
            )
        ]
    }
}
