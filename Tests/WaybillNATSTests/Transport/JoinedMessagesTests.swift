import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillTestSupport

@testable import WaybillNATS

/// Publishes as quickly as a loop can.
private actor Publisher: LoopBound {
    nonisolated let eventLoop: EventLoop

    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    func publish(_ count: Int, on bus: MessageBus) async throws {
        for number in 0..<count {
            try await bus.publish("app://news/\(number % 50 == 49 ? "other" : "today")?n=\(number)")
        }
    }
}

extension Publisher {
    /// Publishes, and calls routes of both kinds, without waiting for answers in between.
    func send(_ count: Int, on bus: MessageBus) async throws {
        var calls: [Task<Void, any Error>] = []
        for number in 0..<count {
            switch number % 3 {
            case 0: try await bus.publish("app://far/news?n=\(number)")
            case 1: calls.append(Task.immediate { try await self.call("app://far/call?n=\(number)", bus) })
            default: calls.append(Task.immediate { try await self.call("app://far/task?n=\(number)", bus) })
            }
        }
        for call in calls { try await call.value }
    }

    private func call(_ url: String, _ bus: MessageBus) async throws { try await bus.route(url) }
}

/// Messages that wait for a connection, and go out as one.
@Suite(.timeLimit(.minutes(1)))
struct JoinedMessagesTests {
    private func message(
        _ text: String,
        to subject: String = "a",
        reply: Int = 1,
        mayJoin: Bool = true
    ) -> OutgoingMessage {
        OutgoingMessage(subject, reply: "r.\(reply)", Array(text.utf8), mayJoin: mayJoin)
    }

    private func joined(_ messages: [OutgoingMessage], limit: Int = .max) -> [OutgoingMessage] {
        messages.reduce(into: []) { result, next in
            if result.last?.takes(next, limit: limit) == true {
                result[result.count - 1].take(next)
            } else {
                result.append(next)
            }
        }
    }

    private func come(_ message: OutgoingMessage) -> [TransportMessage] {
        TransportMessage(subject: message.subject, reply: message.reply, payload: message.payload).parts
    }

    @Test func `what goes out as one comes apart as it was`() {
        let texts = [#"{"a":"]"}"#, "[1,2]", #""\",""#, "7", "null"]
        let messages = texts.enumerated().map { self.message($1, reply: $0 + 1) }
        for count in 2...texts.count {
            let sent = self.joined(Array(messages.prefix(count)))
            #expect(sent.count == 1)
            let parts = self.come(sent[0])
            #expect(parts.map { String(decoding: $0.payload, as: UTF8.self) } == Array(texts.prefix(count)))
            #expect(parts.allSatisfy { $0.reply == "r.\(count)" })
            #expect(parts.map(\.following) == (0..<count).reversed())
        }
        #expect(messages[0].payload == Array(texts[0].utf8))
    }

    @Test func `one that is too deep has no other lost with it`() {
        let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
        let parts = self.joined([self.message("1"), self.message(deep), self.message("2")]).flatMap(self.come)
        #expect(parts.map { String(decoding: $0.payload, as: UTF8.self) } == ["1", deep, "2"])
    }

    @Test func `only neighbours to one subject go out as one, and not too many or too large`() {
        let (a, b) = (self.message("1"), self.message("2", to: "b"))
        #expect(self.joined([a, a, b, a, a]).map(\.subject) == ["a", "b", "a"])
        let alone = self.message("1", mayJoin: false)
        #expect(self.joined([a, alone, alone, a]).count == 4)
        let event = OutgoingMessage("a", reply: nil, [], headers: [("a", "b")], mayJoin: true)
        #expect(self.joined([event, event]).count == 2)
        let many = [OutgoingMessage](repeating: a, count: OutgoingMessage.countLimit + 1)
        #expect(self.joined(many).count == 2)
        #expect(self.joined([a, a], limit: 4).count == 2)
        #expect(self.joined([a, a], limit: 5).map(\.payload.count) == [5])
        let large = self.message(String(repeating: "7", count: OutgoingMessage.byteLimit / 2))
        #expect(self.joined([large, large]).count == 2)
        for message in self.joined(many) { #expect(message.payload.count <= OutgoingMessage.byteLimit) }
    }

    @Test(arguments: ["[]", "[1", "[1,]", "[1]]", "{}", "", "[\(String(repeating: "1,", count: 2000))1]"])
    func `what is no array of messages is left as it is`(text: String) {
        let message = TransportMessage(subject: "a", reply: nil, payload: Array(text.utf8))
        #expect(message.parts.map(\.payload) == [message.payload])
        #expect(message.parts.map(\.following) == [0])
    }

    @Test func `an element joins the last one that waits, and no other`() {
        let ring = MessageRing<[Int]>(countLimit: 2, byteLimit: 100)
        func add(_ number: Int) -> MessageRing<[Int]>.Admission {
            ring.append([number], size: 10) { last in
                guard last.count < 2 else { return false }
                last.append(number)
                return true
            }
        }
        #expect(add(1) == .needsWakeUp)
        for number in 2...3 { #expect(add(number) == .queued) }
        // It is full by its elements, whatever they hold.
        #expect(add(4) == .full)
        #expect(ring.takeAll() == [[1, 2], [3]])
        // What was taken is not joined any more.
        #expect(add(5) == .queued)
        #expect(ring.takeAll() == [[5]])
    }

    #if NATS
    @Test func `publications that wait reach each subscriber once and in order`() async throws {
        try await withCluster(.nats) { cluster in
            let (all, some) = (Journal<Int>(), Journal<Int>())
            // Two subscriptions of the node match the subject.
            _ = try await cluster.node("far") { bus in
                try bus.share("app://news/**", for: .publishing)
                try bus.share("app://:any/today", for: .publishing)
                try bus.subscribe("app://news/**") { all.add(try $0.parameters.require("n")) }
                try bus.subscribe("app://:any/today") { some.add(try $0.parameters.require("n")) }
            }
            let near = try await cluster.node("near")
            #expect(await eventually { near.node.members.contains { $0.topics.count == 2 } })
            let count = Scale.of(2_000)
            let publisher = Publisher(eventLoop: near.bus.eventLoop)
            try await publisher.publish(count, on: near.bus)
            #expect(await eventually { all.entries.count == count })
            let isInOrder = all.entries == Array(0..<count)
            #expect(isInOrder)
            #expect(await eventually { some.entries.count == count - count / 50 })
            let isSomeInOrder = some.entries == (0..<count).filter { $0 % 50 != 49 }
            #expect(isSomeInOrder)
            #expect(await near.balances())
        }
    }

    @Test func `publications of one node, and its requests, are handled in their order`() async throws {
        try await withCluster(.nats) { cluster in
            let heard = Journal<Int>()
            _ = try await cluster.node("far") { bus in
                try bus.share("app://far/**", for: .all)
                try bus.subscribe("app://far/news") { heard.add(try $0.parameters.require("n")) }
                try bus.register("app://far/call") { heard.add(try $0.parameters.require("n")) }
                try bus.register("app://far/task") { message async throws in
                    heard.add(try message.parameters.require("n"))
                    await Task.yield()
                }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/task"))
            #expect(await eventually { near.node.members.contains { !$0.topics.isEmpty } })
            let count = Scale.of(3_000)
            try await Publisher(eventLoop: near.bus.eventLoop).send(count, on: near.bus)
            #expect(await eventually { heard.entries.count == count })
            // A publication is sent at once, and a request by a task of the node.
            for isPublication in [true, false] {
                let wanted = (0..<count).filter { ($0 % 3 == 0) == isPublication }
                let isInOrder = heard.entries.filter { ($0 % 3 == 0) == isPublication } == wanted
                #expect(isInOrder)
            }
            #expect(await near.balances())
        }
    }
    #endif
}
