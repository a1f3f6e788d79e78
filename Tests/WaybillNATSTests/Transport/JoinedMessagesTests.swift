import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillTestSupport

@testable import WaybillNATS

/// A publisher that publishes as quickly as its loop can.
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
    /// Publishes, and calls routes of both kinds, without awaiting the answers.
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

/// Waiting messages that a connection joins into one.
@Suite(.timeLimit(.minutes(1)))
struct JoinedMessagesTests {
    /// A waiting message, as a node sends it.
    private struct Sent {
        var text: String
        var subject = "a"
        var reply = 1
        var envelope: MessageEnvelope? = .array
    }

    private func joined(_ messages: [Sent], limit: Int = .max) -> [OutgoingMessage] {
        let spares = SpareBuffers()
        return messages.reduce(into: []) { result, next in
            let (payload, reply) = (Array(next.text.utf8), ReplySubject.numbered("r.", next.reply))
            if let last = result.indices.last, let envelope = next.envelope,
                result[last].join(payload, in: envelope, to: next.subject, reply: reply, limit: limit, spares)
            {
                return
            }
            result.append(OutgoingMessage(next.subject, reply: reply, payload, in: next.envelope))
        }
    }

    @Test func `joined publications are one envelope, with the reply subject of the last one`() {
        let envelope = MessageEnvelope(start: Array("{".utf8), end: Array("}!".utf8))
        let texts = [#"{"a":"]"}"#, "[1,2]", #""\",""#, "7", "null"]
        for (envelope, ends) in [(MessageEnvelope.array, ("[", "]")), (envelope, ("{", "}!"))] {
            for count in 1...texts.count {
                let sent = self.joined(
                    texts.prefix(count).enumerated().map { Sent(text: $1, reply: $0 + 1, envelope: envelope) }
                )
                #expect(sent.count == 1)
                let text = ends.0 + texts.prefix(count).joined(separator: ",") + ends.1
                #expect(String(decoding: sent[0].payload, as: UTF8.self) == text)
                #expect(sent[0].reply?.text == "r.\(count)")
            }
        }
    }

    @Test func `only adjacent messages with one subject are joined, up to a limit of number and size`() {
        let (a, b) = (Sent(text: "1"), Sent(text: "2", subject: "b"))
        #expect(self.joined([a, a, b, a, a]).map(\.subject) == ["a", "b", "a"])
        let alone = Sent(text: "1", envelope: nil)
        #expect(self.joined([a, alone, alone, a]).count == 4)
        #expect(self.joined([alone]).map(\.payload) == [Array("1".utf8)])
        let other = Sent(text: "1", envelope: MessageEnvelope(start: [], end: []))
        #expect(self.joined([a, other, a]).count == 3)
        let many = [Sent](repeating: a, count: OutgoingMessage.countLimit + 1)
        #expect(self.joined(many).count == 2)
        #expect(self.joined([a, a], limit: 4).count == 2)
        #expect(self.joined([a, a], limit: 5).map(\.payload.count) == [5])
        let large = Sent(text: String(repeating: "7", count: OutgoingMessage.byteLimit / 2))
        #expect(self.joined([large, large]).count == 2)
        for message in self.joined(many) { #expect(message.payload.count <= OutgoingMessage.byteLimit) }
    }

    @Test func `joining a few messages does not reserve memory for many`() {
        for count in 2...4 {
            #expect(self.joined([Sent](repeating: Sent(text: "1"), count: count))[0].payload.capacity < 1024)
        }
        #expect(self.joined([Sent](repeating: Sent(text: "1"), count: 6))[0].payload.capacity > 1024)
    }

    @Test func `the pool keeps a limited number of large buffers, and no small ones`() {
        let spares = SpareBuffers()
        spares.give([UInt8](repeating: 7, count: 1 << 13))
        #expect(spares.count == 1)
        let taken = spares.take(1 << 13)
        #expect(taken.isEmpty && taken.capacity >= 1 << 13)
        #expect(spares.count == 0)
        spares.give([1, 2, 3])
        #expect(spares.count == 0)
        for _ in 0..<40 { spares.give([UInt8](repeating: 0, count: 1 << 13)) }
        #expect(spares.count == 32)
    }

    @Test func `an element is joined only to the last waiting element of the ring`() {
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
        // The limit counts elements, whatever they contain.
        #expect(add(4) == .full)
        #expect(ring.takeAll() == [[1, 2], [3]])
        // An element that has been taken is not joined with later ones.
        #expect(add(5) == .queued)
        #expect(ring.takeAll() == [[5]])
    }

    #if NATS
    @Test func `waiting publications reach each subscriber once and in order`() async throws {
        try await withCluster(.nats) { cluster in
            let (all, some) = (Journal<Int>(), Journal<Int>())
            // Two subscriptions of the node match the subject.
            _ = try await cluster.node("far", heartbeat: .seconds(10)) { bus in
                try bus.share("app://news/**", for: .publishing)
                try bus.share("app://:any/today", for: .publishing)
                try bus.subscribe("app://news/**") { all.add(try $0.parameters.require("n")) }
                try bus.subscribe("app://:any/today") { some.add(try $0.parameters.require("n")) }
            }
            let near = try await cluster.node("near", heartbeat: .seconds(10))
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

    @Test func `a node's publications and requests are handled in their order`() async throws {
        try await withCluster(.nats) { cluster in
            let heard = Journal<Int>()
            _ = try await cluster.node("far", heartbeat: .seconds(10)) { bus in
                try bus.share("app://far/**", for: .all)
                try bus.subscribe("app://far/news") { heard.add(try $0.parameters.require("n")) }
                try bus.register("app://far/call") { heard.add(try $0.parameters.require("n")) }
                try bus.register("app://far/task") { message async throws in
                    heard.add(try message.parameters.require("n"))
                    await Task.yield()
                }
            }
            let near = try await cluster.node("near", heartbeat: .seconds(10))
            #expect(await near.knows("app://far/task"))
            #expect(await eventually { near.node.members.contains { !$0.topics.isEmpty } })
            let count = Scale.of(3_000)
            try await Publisher(eventLoop: near.bus.eventLoop).send(count, on: near.bus)
            #expect(await eventually { heard.entries.count == count })
            // Publications and requests are compared separately, because a publication is sent at once and a
            // request by a task.
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
