import Measure
import Subjects
import Waybill
import WaybillEventLoop

extension Figures {
    /// One message for a hundred subscribers, which may take 60 ns for each of them.
    static func publish() throws -> [Figure] {
        let bus = MessageBus(eventLoop: EventLoop.quiet("bench"))
        for _ in 0..<100 { try Self.subscribe("app://user/seen", on: bus) }
        let caller = Caller(eventLoop: bus.eventLoop)
        let urls = UserURLs("app://user/seen")
        return [
            Figure(
                "publish.100",
                must: .value(6_000),
                subject: Subject("publish") { try await caller.publish(urls, to: 100, on: bus, $0) },
                peer: Peers.hundredActorCalls
            )
        ]
    }

    /// One message for three subscribers, whose patterns match among ten thousand others.
    static func publishAmongMany() throws -> [Figure] {
        let few = MessageBus(eventLoop: EventLoop.quiet("bench"))
        let many = MessageBus(eventLoop: EventLoop.quiet("bench"))
        for pattern in ["app://user/seen", "app://user/:what", "app://**"] {
            try Self.subscribe(pattern, on: few)
            try Self.subscribe(pattern, on: many)
        }
        for index in 0..<10_000 { try Self.subscribe(ManyRoutes.pattern(index), on: many) }
        let urls = UserURLs("app://user/seen")
        let (fewCaller, manyCaller) = (Caller(eventLoop: few.eventLoop), Caller(eventLoop: many.eventLoop))
        return [
            Figure(
                "publish.10k-patterns",
                must: .ratio(2),
                subject: Subject("publish") { try await manyCaller.publish(urls, to: 3, on: many, $0) },
                peer: Subject("among 3 patterns") { try await fewCaller.publish(urls, to: 3, on: few, $0) }
            )
        ]
    }

    private static func subscribe(_ pattern: String, on bus: MessageBus) throws {
        try bus.subscribe(pattern) { message in
            let uid: Int = try message.parameters.require("uid")
            precondition(uid > 0, "a parameter was wrong")
        }
    }
}
