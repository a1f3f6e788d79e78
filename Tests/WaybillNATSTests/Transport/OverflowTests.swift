import Testing
import Waybill
import WaybillEventLoop
import WaybillJSON
import WaybillNATSTestSupport
import WaybillRouting
import WaybillTestSupport

@testable import WaybillNATS

struct MessageRingTests {
    @Test func `a message ring is limited by number and size, and accepts urgent messages beyond`() {
        let ring = MessageRing<Int>(countLimit: 2, byteLimit: 100)
        #expect(ring.append(1, size: 10) == .needsWakeUp)
        #expect(ring.append(2, size: 10) == .queued)
        #expect(ring.append(3, size: 10) == .full)
        #expect(ring.append(4, size: 0, room: .any) == .queued)
        #expect(ring.takeAll() == [1, 2, 4])
        #expect(ring.append(1, size: 0) == .queued)
        #expect(ring.append(2, size: 0, room: .half) == .full)
        #expect(ring.append(2, size: 0) == .queued)
        for number in 3...8 { #expect(ring.append(number, size: 0, room: .fourfold) == .queued) }
        #expect(ring.append(9, size: 0, room: .fourfold) == .full)
        #expect(ring.takeAll() == Array(1...8))
        #expect(ring.append(5, size: 90) == .queued)
        #expect(ring.append(6, size: 90) == .full)
        #expect(ring.takeAll() == [5])
        // The ring was empty, so its reader must be woken again. An element that is too large is taken alone.
        #expect(ring.takeAll() == [])
        #expect(ring.append(7, size: 1000) == .needsWakeUp)
        #expect(ring.close() == [7])
        #expect(ring.append(8, size: 1) == .closed)
    }
}

/// A node whose connection is slower than its messages.
@Suite(.timeLimit(.minutes(1)))
struct OverflowTests {
    @Test func `a request that does not fit into the ring fails immediately with the reason`()
        async throws
    {
        try await withCluster(.memory) { cluster in
            _ = try await cluster.node("far") { bus in
                try bus.share("app://far", for: .all)
                try bus.register("app://far") { _ in 1 }
            }
            let near = try await cluster.node("near", heartbeat: .seconds(10))
            #expect(await near.knows("app://far"))
            let transport = try #require(near.transport)
            cluster.memory.fill(transport.client, true)
            let error = await failure { try await near.bus.route("app://far") }
            #expect(error?.code == .mailboxFull)
            #expect(near.node.statistics.sent == 0)
            cluster.memory.fill(transport.client, false)
            #expect(try await near.bus.route("app://far", as: Int.self) == 1)
            #expect(await near.balances())
        }
    }

    @Test func `a publication that cannot be sent is a dead letter with the reason`() async throws {
        try await withCluster(.memory) { cluster in
            let heard = Tally()
            _ = try await cluster.node("far") { bus in
                try bus.share("app://far/**", for: .all)
                try bus.subscribe("app://far/news") { _ in heard.add() }
            }
            let near = try await cluster.node("near", heartbeat: .seconds(10))
            #expect(await eventually { near.node.members.contains { !$0.topics.isEmpty } })
            let letters = Journal<String>()
            // Create the sequence here, because the task may begin after the message has failed.
            let failed = near.bus.deadLetters
            let watch = Task {
                for await letter in failed { letters.add("\(letter.error.code) \(letter.url)") }
            }
            defer { watch.cancel() }
            try await near.bus.publish("app://far/news")
            #expect(await eventually { heard.count == 1 })
            let transport = try #require(near.transport)
            cluster.memory.fill(transport.client, true)
            try await near.bus.publish("app://far/news?n=1")
            #expect(await letters.comes(to: "mailboxFull app://far/news?n=1"))
            cluster.memory.fill(transport.client, false)
            let large = String(repeating: "x", count: cluster.memory.payloadLimit)
            try await near.bus.publish("app://far/news?n=2", parameters: ["text": large])
            #expect(await eventually { letters.entries.last == "notTransferable app://far/news?n=2" })
            // The reserved parameter would change the destination of the message.
            let forged = ["$waybill": ["url": "app://far/admin"]]
            try await near.bus.publish("app://far/news?n=2b", parameters: forged)
            #expect(await eventually { letters.entries.last == "notTransferable app://far/news?n=2b" })
            // The transport accepted this message, and then could not send it.
            let payload = #"{"jsonrpc":"2.0","method":"$/publish","params":{"url":"app://far/news?n=3"}}"#
            let reply = Subjects(realm: "test").inbox(near.node.core.id, 1)
            let unsent = TransportMessage(subject: "", reply: reply, payload: Array(payload.utf8))
            transport.take(.undelivered(reply: reply, reason: .notSent(unsent, "it is full")))
            #expect(await eventually { letters.entries.last == "unreachable app://far/news?n=3" })
            let joined = payload.replacing(#""}}"#, with: #"","messages":[{},{"a":1}]}}"#)
            let several = TransportMessage(subject: "", reply: reply, payload: Array(joined.utf8))
            transport.take(.undelivered(reply: reply, reason: .notSent(several, "it is full")))
            #expect(await eventually { near.bus.statistics.deadLettered == 6 })
            let url = "app://far/news?n=4"
            let event = CloudEvent(
                known: ["id": "4", "source": "/a", "type": "t", "subject": url],
                data: nil
            )
            for (count, mode) in [(7, EventMode.structured), (8, .binary)] {
                let (payload, headers) = event.encoded(as: mode)
                let message = TransportMessage(subject: "", reply: reply, payload: payload, headers: headers)
                transport.take(.undelivered(reply: reply, reason: .notSent(message, "it is full")))
                #expect(await eventually { near.bus.statistics.deadLettered == count })
                #expect(await eventually { letters.entries.last == "unreachable \(url)" })
            }
            #expect(heard.count == 1)
            #expect(await near.balances())
        }
    }

    @Test func `a node that has lost answers fails their callers, and continues`() async throws {
        try await withCluster(.memory) { cluster in
            let started = Gate()
            _ = try await cluster.node("far") { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/one") { _ in 1 }
                try bus.register("app://far/stuck") { _ async throws in
                    started.reach()
                    try await hang()
                }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/stuck"))
            let call = Task { try await near.bus.route("app://far/stuck") }
            await started.reached()
            try #require(near.transport).take(.overflow)
            let error = await failure { try await call.value }
            #expect(error?.code == .unreachable)
            #expect(error?.message.contains("too slow") == true)
            #expect(try await near.bus.route("app://far/one", as: Int.self) == 1)
            #expect(await near.balances())
        }
    }

    #if NATS
    @Test func `messages that arrive faster than the loop handles them are dropped and reported`()
        async throws
    {
        let loop = EventLoop(name: "slow")
        let counts = Locked<(messages: Int, overflows: Int)>((0, 0))
        let events = NATSEvents(on: loop, of: Subjects(realm: "test"), countLimit: 10) { event in
            counts.withLock { counts in
                if case .message = event { counts.messages += 1 }
                if case .overflow = event { counts.overflows += 1 }
            }
            return true
        }
        let message = TransportMessage(subject: "a", reply: nil, payload: [])
        let (blocked, release) = (Gate(), Gate())
        loop.execute {
            blocked.reach()
            release.block()
        }
        await blocked.reached()
        for _ in 0..<100 { events.append(.message(message)) }
        release.open()
        #expect(await eventually { counts.withLock { $0.overflows } > 0 })
        #expect(counts.withLock { $0.messages } == 10)
        events.append(.message(message))
        #expect(await eventually { counts.withLock { $0.messages } == 11 })
        await loop.shutDown()
    }

    @Test func `publications leave room in the ring for awaited messages`() async throws {
        let loop = EventLoop(name: "slow")
        let heard = Journal<String>()
        let subjects = Subjects(realm: "test")
        let events = NATSEvents(on: loop, of: subjects, countLimit: 10) { event in
            switch event {
            case .message(let message): heard.add(message.subject)
            case .publicationOverflow: heard.add("lost")
            case .overflow: heard.add("all may be lost")
            default: break
            }
            return true
        }
        let (blocked, release) = (Gate(), Gate())
        loop.execute {
            blocked.reach()
            release.block()
        }
        await blocked.reached()
        let subject = subjects.publication(try Address("app://news"))
        let news = TransportMessage(subject: subject, reply: nil, payload: [])
        for _ in 0..<100 { events.append(.message(news)) }
        for _ in 0..<4 { events.append(.message(TransportMessage(subject: "a", reply: nil, payload: []))) }
        release.open()
        let expected = Array(repeating: subject, count: 5) + ["lost"] + Array(repeating: "a", count: 4)
        #expect(await eventually { heard.entries == expected }, "\(heard.entries)")
        await loop.shutDown()
    }

    @Test func `the rest of a joined message is handled after the loop has polled, before later messages`()
        async throws
    {
        let loop = EventLoop(name: "busy")
        let heard = Journal<String>()
        let events = NATSEvents(on: loop, of: Subjects(realm: "test")) { event in
            switch event {
            case .message(let message): heard.add(message.subject)
            case .remainder: heard.add("rest")
            default: return true
            }
            guard heard.entries.last != "first", heard.entries.last != "last",
                heard.entries.count(where: { $0 == "rest" }) < 2
            else { return true }
            loop.execute { heard.add("else") }
            return false
        }
        let last = Gate()
        for subject in ["first", "long", "last"] {
            events.append(.message(TransportMessage(subject: subject, reply: nil, payload: [])))
        }
        events.drain { last.reach() }
        await last.reached()
        #expect(heard.entries == ["first", "long", "else", "rest", "else", "rest", "last"])
        await loop.shutDown()
    }

    @Test func `a loop does other work while many messages arrive`() async throws {
        let loop = EventLoop(name: "busy")
        let received = Locked<[String]>([])
        let between = Locked<[Int]>([])
        let last = Gate()
        let count = 100
        let events = NATSEvents(on: loop, of: Subjects(realm: "test")) { event in
            guard case .message(let message) = event else { return true }
            let isFirst = received.withLock { received in
                received.append(message.subject)
                return received.count == 1
            }
            if isFirst { loop.execute { between.withLock { $0.append(received.withLock(\.count)) } } }
            let start = ContinuousClock.now
            while ContinuousClock.now - start < .milliseconds(1) {}
            return true
        }
        for number in 0..<count {
            events.append(.message(TransportMessage(subject: "\(number)", reply: nil, payload: [])))
        }
        events.drain {
            between.withLock { $0.append(received.withLock(\.count)) }
            last.reach()
        }
        await last.reached()
        #expect(received.withLock { $0 } == (0..<count).map(String.init))
        let counts = between.withLock { $0 }
        #expect(counts.count == 2 && counts[0] < count && counts[1] == count)
        // Code that awaits the handling of all messages is resumed, even if some were lost.
        let closed = Gate()
        events.close()
        events.drain { closed.reach() }
        await closed.reached()
        await loop.shutDown()
    }
    #endif
}
