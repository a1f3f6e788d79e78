#if HTTP
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Testing
import Waybill
import WaybillJSON
import WaybillRouting
import WaybillTestSupport

@testable import WaybillHTTP

/// The lifetime and the memory of feeds.
@Suite(.timeLimit(.minutes(2)))
struct FeedTests {
    private let bus = MessageBus(configuration: .quiet)

    init() throws { try self.bus.expose("app://news/**", for: .subscribing) }

    private func feeds(
        _ change: (inout WaybillGateway.Configuration) -> Void = { _ in }
    ) -> EventFeeds {
        var configuration = WaybillGateway.Configuration.quiet
        change(&configuration)
        return EventFeeds(self.bus, configuration)
    }

    private func name(_ pattern: String, source: String? = nil) -> FeedName {
        FeedName(pattern: ExactText(pattern), source: source.map { ExactText($0) })
    }

    /// Reads events as a client does, until it has the given number.
    private func read(_ count: Int, of place: FeedClient, after lastID: String? = nil) async -> [String] {
        let sink = EventSink()
        let sender = Task { await place.feed.send(after: place.number, or: lastID, to: sink, of: nil) }
        var events: [String] = []
        for await item in sink.items {
            events.append(item.bytes.map { String(buffer: $0) }.joined())
            if events.count == count { break }
            EventSink.acknowledge(item)
        }
        sender.cancel()
        sink.finish()
        // The sender of an event that is not read would wait forever, so the remaining events are dropped.
        for await _ in sink.items {}
        await sender.value
        return events
    }

    @Test
    func `a feed ends with its last client if no client has received an event`() async throws {
        let feeds = self.feeds()
        do {
            let first = try feeds.enter(self.name("app://news/a"), from: nil)
            let second = try feeds.enter(self.name("app://news/a"), from: nil)
            #expect(first.feed === second.feed && feeds.count == 1)
            #expect(try await self.bus.publish("app://news/a") == 1)
        }
        #expect(feeds.count == 0)
        #expect(try await self.bus.publish("app://news/a") == 0)
    }

    @Test
    func `a feed whose client has received an event is kept, and makes room for another one`() async throws {
        let feeds = self.feeds {
            $0.streamLimit = 2
            $0.replayTime = .seconds(600)
        }
        for pattern in ["app://news/a", "app://news/b", "app://news/*"] {
            let place = try feeds.enter(self.name(pattern), from: nil)
            try await self.bus.publish("app://news/\(pattern.last == "b" ? "b" : "a")")
            #expect(await self.read(1, of: place).count == 1)
        }
        #expect(feeds.count == 2)
        // The first feed has made room for the third. The other feeds keep what is published meanwhile.
        try await self.bus.publish("app://news/b")
        // The task of the feed stores an event only after the publisher has continued.
        let name = self.name("app://news/b")
        #expect(try await eventually { try feeds.enter(name, from: nil).number == 2 })
        let place = try feeds.enter(name, from: nil)
        let other = try feeds.enter(self.name("app://news/c"), from: nil)
        #expect(throws: RoutingError.self) { try feeds.enter(self.name("app://news/d"), from: nil) }
        withExtendedLifetime((place, other)) {}
    }

    @Test
    func `one address has only a limited number of feeds kept`() async throws {
        let feeds = self.feeds {
            $0.streamsPerClient = 2
            $0.replayTime = .seconds(600)
        }
        let kept = try feeds.enter(self.name("app://news/kept"), from: "10.0.0.2")
        try await self.bus.publish("app://news/kept")
        #expect(await self.read(1, of: kept).count == 1)
        for number in 0..<10 {
            let place = try feeds.enter(self.name("app://news/\(number)"), from: "10.0.0.1")
            try await self.bus.publish("app://news/\(number)")
            #expect(await self.read(1, of: place).count == 1)
        }
        #expect(feeds.count == 3)
        withExtendedLifetime(kept) {}
    }

    @Test
    func `kept messages have a limit in bytes, and a message of several feeds counts once`()
        async throws
    {
        let (count, size) = (50, 100_000)
        let feeds = self.feeds { $0.replayBytes = 1_000_000 }
        let places = try (0..<count).map { number in
            try feeds.enter(self.name("app://news/:n\(number)"), from: nil)
        }
        let text = String(repeating: "x", count: size)
        try await self.bus.publish("app://news/1", parameters: ["text": text])
        #expect(await eventually { places.allSatisfy { $0.feed.lastNumber == 1 } })
        #expect(feeds.store.size < 2 * size)
        for number in 2...30 {
            try await self.bus.publish("app://news/\(number)", parameters: ["text": text])
        }
        #expect(await eventually { places.allSatisfy { $0.feed.lastNumber == 30 } })
        #expect(feeds.store.size <= 1_000_000)
        // A gap event tells the client that it has missed the first messages.
        let events = await self.read(2, of: places[0])
        #expect(events[0].contains("event: gap"))
        #expect(events[1].contains("\"n0\":") && events[1].hasSuffix("\"text\":\"\(text)\"}}\n\n"))
        withExtendedLifetime(places) {}
    }

    /// The part of a message that becomes the data of its event.
    enum EventContent: CaseIterable {
        case parameters
        case payload
        /// The message arrived in an event, whose data are used.
        case event
    }

    @Test(arguments: EventContent.allCases)
    func `the events of several feeds share their data`(content: EventContent) async throws {
        let (count, text) = (50, String(repeating: "x", count: 100_000))
        let feeds = self.feeds { $0.replayBytes = 1_000_000 }
        let places = try (0..<count).map { number in
            try feeds.enter(self.name("app://news/:n\(number)", source: "//shop"), from: nil)
        }
        try self.bus.expose("app://news/**", for: .publishing)
        let message = ExternalRequest(
            url: "app://news/1?q=2",
            parameters: content == .parameters ? ["text": text] : [:],
            headers: content == .event ? ["ce-id": "7", "ce-source": "//till", "ce-type": "sale"] : [:],
            payload: content == .parameters ? nil : try JSONText(encoding: ["text": text]),
            origin: MessageOrigin(transport: "http")
        )
        #expect(try await self.bus.publish(message) == count)
        #expect(await eventually { places.allSatisfy { $0.feed.lastNumber == 1 } })
        #expect(feeds.store.size < 2 * text.utf8.count)
        let lines = try #require(await self.read(1, of: places[3]).first).split(separator: "\n")
        let line = try #require(lines.last)
        let event = try CloudEvent(structured: Array(line.utf8.dropFirst("data: ".utf8.count)))
        let isOwn = content != .event
        #expect(event["type"] == (isOwn ? "app://news/:n3" : "sale"))
        #expect(event["source"] == (isOwn ? "//shop" : "//till"))
        let own = content == .parameters ? #""n3":"1","q":"2","# : ""
        #expect(event.data == Array(#"{\#(own)"text":"\#(text)"}"#.utf8))
        withExtendedLifetime(places) {}
    }

    @Test(arguments: [
        ("app://news/a", "app://news/a", [:], #""parameters":{}}"#),
        ("app://news/a", "app://news/a", ["x": 1], #""parameters":{"x":1}}"#),
        ("app://news/a", "app://news/a?q=r", [:], #""parameters":{"q":"r"}}"#),
        ("app://news/:n", "app://news/a?q=r", ["x": 1], #""parameters":{"n":"a","q":"r","x":1}}"#),
        ("app://news/:n", "app://news/a?q=r", ["n": 1, "q": 2], #""parameters":{"n":1,"q":2}}"#),
    ])
    func `an event has each value of path, query and call once`(
        pattern: String,
        url: String,
        values: [String: Int],
        end: String
    ) async throws {
        let place = try self.feeds().enter(self.name(pattern), from: nil)
        try await self.bus.publish(url, parameters: values)
        let event = try #require(await self.read(1, of: place).first)
        #expect(event.hasSuffix("\(end)\n\n"))
        #expect(event.contains("event: message\ndata: {\"id\":\"") && event.contains("\"url\":\"\(url)\""))
    }

    @Test
    func `clients that do not read hold a limited number of bytes, and each message counts once`() {
        let store = EventStore(limit: 100_000)
        let parts = (0..<4).map { _ in store.add(.init(repeating: 0x78, count: 30_000)) }
        // The first part has made room for the fourth.
        #expect(parts[0].lend(to: nil) == nil)
        var loans = (1...3).map { parts[$0].lend(to: nil) }
        #expect(loans.allSatisfy { $0 != nil })
        #expect(parts[1].lend(to: nil) != nil)
        let (large, small) = (
            store.add(.init(repeating: 0x78, count: 30_000)), store.add(.init(repeating: 0x78, count: 100))
        )
        #expect(large.lend(to: nil) == nil)
        #expect(small.lend(to: nil) != nil)
        loans = []
        #expect(large.lend(to: nil) != nil)
    }

    @Test
    func `one client that does not read uses at most half of the bytes that are being written`() {
        let store = EventStore(limit: 100_000)
        let parts = (0..<3).map { _ in store.add(.init(repeating: 0x78, count: 30_000)) }
        let loan = parts[0].lend(to: "a")
        #expect(loan != nil && parts[1].lend(to: "a") == nil)
        do {
            let other = parts[1].lend(to: "b")
            #expect(other != nil && parts[1].lend(to: "a") == nil)
        }
        withExtendedLifetime(loan) {}
        let unlimited = EventStore(limit: 100_000, limitsClients: false)
        let loans = (0..<3).map { _ in
            unlimited.add(.init(repeating: 0x78, count: 30_000)).lend(to: "a")
        }
        #expect(loans.allSatisfy { $0 != nil })
    }

    @Test
    func `a feed numbers the messages that it was too slow to read`() async throws {
        var configuration = MessageBus.Configuration.quiet
        configuration.mailboxLimit = 2
        let bus = MessageBus(configuration: configuration)
        try bus.expose("app://news/**", for: .subscribing)
        let place = try EventFeeds(bus, .quiet).enter(self.name("app://news/a"), from: nil)
        for _ in 0..<1_000 { try await bus.publish("app://news/a") }
        // A last message tells the feed how many messages it has missed before.
        let isComplete = try await eventually {
            try await bus.publish("app://news/a")
            return place.feed.lastNumber >= 1_001
        }
        #expect(isComplete)
        #expect(bus.statistics.deadLettered > 0)
        await bus.shutDown()
    }

    @Test
    func `messages that a feed has missed are a gap in its log`() {
        func missed(_ reading: EventLog.Reading) -> Int? {
            switch reading {
            case .events(let events): events.allSatisfy { $0 == nil } ? events.count : nil
            case .gap(let count): count
            case .nothing, .end: nil
            }
        }
        var log = EventLog(limit: 4)
        log.skip(3)
        #expect(log.lastNumber == 3 && missed(log.read(after: 0)) == 3 && missed(log.read(after: 2)) == 1)
        log.skip(1_000_000_000)
        #expect(log.lastNumber == 1_000_000_003)
        #expect(missed(log.read(after: 3)) == 1_000_000_000 - 4)
        #expect(missed(log.read(after: 1_000_000_000)) == 3)
    }

    @Test
    func `the streams of one address are limited, and an ended stream makes room`() throws {
        let count = ClientCount(of: "event streams", limit: 3, perClient: 2)
        var places = try [count.take(for: "10.0.0.1"), count.take(for: "10.0.0.1")]
        #expect(throws: Problem.self) { try count.take(for: "10.0.0.1") }
        places.removeLast()
        places.append(try count.take(for: "10.0.0.1"))
        let other = try count.take(for: "10.0.0.2")
        #expect(throws: Problem.self) { try count.take(for: nil) }
        withExtendedLifetime(other) {}
    }

    @Test
    func `feeds whose clients have left do not keep others out`() async throws {
        try await GatewayServer.run(self.bus, .with(\.streamLimit, 4)) { server in
            var readers: [Task<Void, any Error>] = []
            for number in 0..<4 {
                let isOpen = Gate()
                readers.append(
                    Task {
                        let events = try await server.events(.GET, "subscribe?pattern=app://news/:n\(number)")
                        isOpen.open()
                        _ = try await events.next()
                    }
                )
                await isOpen.wait()
            }
            let late = "subscribe?pattern=app://news/late"
            #expect(try await server.open(.GET, late).status == .tooManyRequests)
            for reader in readers { reader.cancel() }
            let isTaken = try await eventually { try await server.open(.GET, late).status == .ok }
            #expect(isTaken)
        }
    }

    @Test
    func `a subscriber that does not read is disconnected`() async throws {
        var configuration = WaybillGateway.Configuration.quiet
        configuration.stallTime = .seconds(1)
        configuration.heartbeat = .milliseconds(20)
        configuration.replayTime = .milliseconds(1)
        try await GatewayServer.run(self.bus, configuration) { server in
            let response = try await server.open(.GET, "subscribe?pattern=app://news/**")
            let text = String(repeating: "x", count: 1 << 20)
            #expect(try await server.bus.publish("app://news/a", parameters: ["text": text]) == 1)
            // Fill the buffers of the connection. A slow machine disconnects the client while they fill.
            for _ in 1..<30 { try await server.bus.publish("app://news/a", parameters: ["text": text]) }
            #expect(try await eventually { try await server.bus.publish("app://news/a") == 0 })
            withExtendedLifetime(response) {}
        }
    }
}
#endif
