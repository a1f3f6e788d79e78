import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport
import WaybillTesting

@Suite(.timeLimit(.minutes(1)))
struct SubscriptionSequenceTests {
    let bus = MessageBus(configuration: .quiet)

    private func balances() -> Bool {
        let books = self.bus.statistics
        let ended = books.replied + books.failed + books.expired + books.cancelled + books.deadLettered
        return books.sent == ended + books.inFlight && books.inFlight >= 0
    }

    @Test(arguments: RouteTests.Place.allCases, RouteTests.Place.allCases)
    func `a reader receives published messages in order`(
        publisher: RouteTests.Place,
        reader: RouteTests.Place
    ) async throws {
        let messages = try self.bus.subscription(to: "app://a/:n")
        let bus = self.bus
        let reading = Task {
            try await RouteTests.run(reader, bus) {
                var numbers: [Int] = []
                for await message in messages {
                    numbers.append(try message.parameters.require("n"))
                    if numbers.count == 100 { break }
                }
                return numbers
            }
        }
        let taken = try await RouteTests.run(publisher, bus) {
            var taken = 0
            for number in 0..<100 { taken += try await bus.publish("app://a/\(number)") }
            return taken
        }
        #expect(taken == 100)
        #expect(try await reading.value == Array(0..<100))
        #expect(bus.statistics.sent == 100 && bus.statistics.replied == 100)
    }

    @Test func `a reader on a loop stays on the loop`() async throws {
        let messages = try self.bus.subscription(to: "app://a")
        let bus = self.bus
        let loop = bus.eventLoop
        async let count: Int = RouteTests.run(.home, bus) {
            var count = 0
            for await _ in messages {
                loop.preconditionInEventLoop()
                count += 1
                if count == 3 { break }
            }
            loop.preconditionInEventLoop()
            return count
        }
        for _ in 1...3 { try await bus.publish("app://a") }
        #expect(await count == 3)
    }

    @Test func `unread messages of a subscription are in flight`() async throws {
        let messages = try self.bus.subscription(to: "app://a")
        #expect(messages.pattern == "app://a")
        for _ in 1...3 { #expect(try await self.bus.publish("app://a") == 1) }
        #expect(self.bus.statistics.inFlight == 3)
        var reader = messages.makeAsyncIterator()
        _ = await reader.next()
        #expect(self.bus.statistics.inFlight == 2 && self.bus.statistics.replied == 1)
    }

    @Test func `a full subscription rejects a message, and does not affect other subscribers`() async throws {
        let log = Journal<String>()
        let bus = MessageBus(configuration: .logging(to: log))
        let messages = try bus.subscription(to: "app://a/:n", limit: 2)
        try bus.subscribe("app://a/:n") { _ in }
        #expect(try await bus.publish("app://a/1") == 2)
        #expect(try await bus.publish("app://a/2") == 2)
        #expect(try await bus.publish("app://a/3") == 1)
        #expect(log.count == 1 && log.entries.allSatisfy { $0.contains("mailboxFull app://a/3") })
        #expect(bus.statistics.deadLettered == 1 && bus.statistics.inFlight == 2)
        var reader = messages.makeAsyncIterator()
        #expect(await reader.next()?.parameters["n"] == "1")
        #expect(try await bus.publish("app://a/4") == 2)
        #expect(await reader.next()?.parameters["n"] == "2")
        #expect(await reader.next()?.parameters["n"] == "4")
    }

    @Test func `a full subscription with dropOldest keeps the newest, and the others are dead letters`()
        async throws
    {
        let log = Journal<String>()
        let bus = MessageBus(configuration: .logging(to: log))
        let messages = try bus.subscription(to: "app://a/:n", limit: 2, whenFull: .dropOldest)
        for number in 1...5 { #expect(try await bus.publish("app://a/\(number)") == 1) }
        #expect(log.count == 3 && bus.statistics.deadLettered == 3 && bus.statistics.inFlight == 2)
        var reader = messages.makeAsyncIterator()
        #expect(await reader.next()?.parameters["n"] == "4")
        #expect(await reader.next()?.parameters["n"] == "5")
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `a full subscription with suspend makes publishers wait in order`(
        place: RouteTests.Place
    ) async throws {
        let messages = try self.bus.subscription(to: "app://a/:n", limit: 1, whenFull: .suspend)
        try await self.bus.publish("app://a/0")
        let bus = self.bus
        let placed = Journal<Int>()
        let publishers = try await self.publishers(placed, place)
        #expect(placed.count == 0)
        var reader = messages.makeAsyncIterator()
        for number in 0...3 {
            #expect(await eventually { placed.count == number })
            #expect(await reader.next()?.parameters["n"] == "\(number)")
        }
        for publisher in publishers { #expect(try await publisher.value == 1) }
        #expect(placed.entries.sorted() == [1, 2, 3])
        #expect(bus.statistics.sent == 4 && bus.statistics.replied == 4)
    }

    private func publishers(
        _ placed: Journal<Int>,
        _ place: RouteTests.Place
    ) async throws -> [Task<Int, any Error>] {
        var publishers: [Task<Int, any Error>] = []
        for number in 1...3 {
            let bus = self.bus
            publishers.append(
                Task {
                    let count = try await RouteTests.run(place, bus) {
                        try await bus.publish("app://a/\(number)")
                    }
                    placed.add(number)
                    return count
                }
            )
            // Wait until the publisher is in the queue before the next one begins.
            #expect(await eventually { self.bus.statistics.sent == number + 1 })
        }
        return publishers
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `deadline, cancellation and the reader's end each resume a waiting publisher`(
        place: RouteTests.Place
    ) async throws {
        let messages = try self.bus.subscription(to: "app://a", limit: 1, whenFull: .suspend)
        let bus = self.bus
        try await bus.publish("app://a")
        let count = try await RouteTests.run(place, bus) {
            try await bus.publish("app://a", deadline: .now + .milliseconds(20))
        }
        #expect(count == 0 && bus.statistics.expired == 1)
        let cancelled = Task { try await RouteTests.run(place, bus) { try await bus.publish("app://a") } }
        #expect(await eventually { bus.statistics.sent == 3 })
        cancelled.cancel()
        #expect(try await cancelled.value == 0)
        #expect(bus.statistics.cancelled == 1)
        let left = Task { try await RouteTests.run(place, bus) { try await bus.publish("app://a") } }
        #expect(await eventually { bus.statistics.sent == 4 })
        messages.cancel()
        #expect(try await left.value == 0)
        #expect(bus.statistics.deadLettered == 2 && bus.statistics.inFlight == 0)
    }

    @Test func `a publisher that is cancelled before it publishes does not wait`() async throws {
        let messages = try self.bus.subscription(to: "app://a", limit: 1, whenFull: .suspend)
        let bus = self.bus
        try await bus.publish("app://a")
        let gate = Gate()
        let publisher = Task {
            await gate.wait()
            return try await bus.publish("app://a")
        }
        publisher.cancel()
        gate.open()
        #expect(try await publisher.value == 0)
        messages.cancel()
        #expect(self.balances() && bus.statistics.inFlight == 0)
    }

    enum End: CaseIterable, Sendable { case cancel, shutDown, task }

    @Test(arguments: End.allCases, RouteTests.Place.allCases)
    func `a waiting reader resumes when its subscription ends`(
        end: End,
        place: RouteTests.Place
    ) async throws {
        let bus = self.bus
        let messages = try bus.subscription(to: "app://a")
        let began = Gate()
        let reading = Task { await RouteTests.run(place, bus) { await Self.read(messages, began) } }
        try await bus.publish("app://a")
        await began.wait()
        switch end {
        case .cancel: messages.cancel()
        case .shutDown: await bus.shutDown()
        case .task: reading.cancel()
        }
        #expect(await reading.value == 1)
        if end != .shutDown { #expect(try await bus.publish("app://a") == 0) }
        #expect(bus.statistics.inFlight == 0)
    }

    private static nonisolated(nonsending) func read(
        _ messages: SubscriptionSequence,
        _ began: Gate
    ) async -> Int {
        var count = 0
        for await _ in messages {
            count += 1
            began.open()
        }
        return count
    }

    @Test func `a reader's loop ends when the bus is dropped`() async throws {
        var bus: MessageBus? = MessageBus(configuration: .quiet)
        let messages = try #require(try bus?.subscription(to: "app://a"))
        let began = Gate()
        let reading = Task { await Self.read(messages, began) }
        _ = try await bus?.publish("app://a")
        await began.wait()
        bus = nil
        #expect(await reading.value == 1)
    }

    @Test func `leaving the reader's loop ends the subscription, although the sequence still exists`()
        async throws
    {
        let log = Journal<String>()
        let bus = MessageBus(configuration: .logging(to: log))
        let messages = try bus.subscription(to: "app://a", limit: 8)
        let letters = bus.deadLetters(limit: 16)
        for _ in 1...3 { try await bus.publish("app://a") }
        for await _ in messages { break }
        #expect(try await bus.publish("app://a") == 0)
        var shown = 0
        for await letter in letters {
            #expect(letter.url == "app://a" && letter.message != nil && "\(letter.error.code)" == "noHandler")
            shown += 1
            if shown == 2 { break }
        }
        #expect(bus.statistics.inFlight == 0 && bus.statistics.deadLettered == 2)
        #expect(log.count == 1 && log.entries.allSatisfy { $0.contains("count=2") })
        for await _ in messages { Issue.record("it has ended") }
    }

    @Test func `dropping an unread sequence ends the subscription`() async throws {
        var messages: SubscriptionSequence? = try self.bus.subscription(to: "app://a")
        #expect(messages != nil)
        try await self.bus.publish("app://a")
        messages = nil
        #expect(try await self.bus.publish("app://a") == 0)
        #expect(self.bus.statistics.inFlight == 0)
    }

    @Test func `a message whose deadline has passed is not read`() async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        let messages = try bus.subscription(to: "app://a/:n")
        let deadline = clock.now + .milliseconds(10)
        #expect(try await bus.publish("app://a/1", deadline: deadline) == 1)
        try await bus.publish("app://a/2")
        await clock.advance(by: .milliseconds(20))
        var reader = messages.makeAsyncIterator()
        #expect(await reader.next()?.parameters["n"] == "2")
        #expect(bus.statistics.expired == 1)
    }

    @Test func `a draining shutdown lets a reader read the remaining messages`() async throws {
        let messages = try self.bus.subscription(to: "app://a")
        for _ in 1...100 { try await self.bus.publish("app://a") }
        let reading = Task {
            var count = 0
            for await _ in messages { count += 1 }
            return count
        }
        let summary = await self.bus.shutDown(drainingUntil: .now + .seconds(30))
        #expect(await reading.value == 100)
        #expect(summary.abandoned == 0)
        #expect(throws: RoutingError.self) { try self.bus.subscription(to: "app://a") }
    }

    @Test func `concurrent publishers and a reader lose and duplicate no message`() async throws {
        let bus = self.bus
        let heard = Journal<Int>()
        let messages = try bus.subscription(to: "app://a/:n", limit: 4, whenFull: .suspend)
        let share = Scale.of(500)
        let reading = Task {
            for await message in messages {
                heard.add(try message.parameters.require("n"))
                if heard.count == 4 * share { break }
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in 0..<4 {
                let place = RouteTests.Place.allCases[part % 3]
                group.addTask {
                    try await RouteTests.run(place, bus) {
                        for number in 0..<share { try await bus.publish("app://a/\(part * share + number)") }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await reading.value
        #expect(heard.entries.sorted() == Array(0..<4 * share))
        #expect(bus.statistics.replied == 4 * share && self.balances())
    }

    @Test func `a publication that finds no room before the subscription ends names the pattern`()
        async throws
    {
        let bus = self.bus
        let letters = bus.deadLetters
        let messages = try bus.subscription(to: "app://a/:n", limit: 1, whenFull: .suspend)
        #expect(try await bus.publish("app://a/1") == 1)
        let waiting = Task { try await bus.publish("app://a/2") }
        #expect(await eventually { bus.statistics.sent == 2 })
        messages.cancel()
        #expect(try await waiting.value == 0)
        var patterns: [String: String?] = [:]
        for await letter in letters {
            patterns[letter.url] = letter.pattern
            if patterns.count == 2 { break }
        }
        #expect(patterns == ["app://a/1": "app://a/:n", "app://a/2": "app://a/:n"])
    }
}
