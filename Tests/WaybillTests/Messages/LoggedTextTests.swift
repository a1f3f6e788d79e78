import Logging
import Testing
import Waybill
import WaybillTestSupport

/// Text from outside is logged on one line that cannot be forged.
@Suite(.timeLimit(.minutes(1)))
struct LoggedTextTests {
    private let journal = Journal<String>()
    private let bus: MessageBus

    init() { self.bus = MessageBus(configuration: .logging(to: self.journal)) }

    static let hostile = "app://nobody/a\n2026 FAKE\u{1b}[2J\u{0}\u{2028}\u{202e}\u{2066}\u{85}"
    static let safe = #"app://nobody/a\n2026 FAKE\u{1B}[2J\0\u{2028}\u{202E}\u{2066}\u{0085}"#
    static let long = "app://nobody/" + String(repeating: "x", count: 8_000)

    private func expectSafe(
        _ entries: [String],
        count: Int,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(entries.count == count, sourceLocation: sourceLocation)
        for entry in entries {
            let isSafe = entry.unicodeScalars.allSatisfy { scalar in
                ![.control, .lineSeparator, .paragraphSeparator, .format].contains(
                    scalar.properties.generalCategory
                )
            }
            #expect(
                isSafe && entry.utf8.count < 2_000,
                "\(entry.prefix(100))",
                sourceLocation: sourceLocation
            )
        }
    }

    @Test func `the log entry of a dead letter is one line, with control characters escaped`() async throws {
        try self.bus.register("app://broken/:text") { message in
            throw RoutingError.refused("not \(message.parameters["text"] ?? "")")
        }
        for url in [Self.hostile, Self.long] {
            self.bus.send(url)
            self.bus.send(url.replacing("nobody", with: "broken"))
        }
        #expect(await eventually { self.journal.count == 4 })
        self.expectSafe(self.journal.entries, count: 4)
        #expect(self.journal.entries.contains { $0.contains(Self.safe) })
        #expect(self.journal.entries.contains { $0.contains("(8,013 bytes)") })
    }

    @Test func `the log entry of a delivery by LoggingMiddleware is one line`() async throws {
        let journal = self.journal
        let logger = Logger(label: "log") { _ in JournalLogHandler(journal: journal) }
        let bus = MessageBus(configuration: .quiet)
        try bus.register("app://nobody/:text") { try $0.parameters.require("text", as: Int.self) }
        bus.use(LoggingMiddleware(logger: logger, startLevel: .trace))
        for url in [Self.hostile, Self.long] { _ = await failure { try await bus.route(url) } }
        self.expectSafe(journal.entries, count: 4)
        #expect(journal.entries[0].hasSuffix("url=\(Self.safe)"))
    }

    @Test func `the log entry of messages that a subscriber left unread is one line`() async throws {
        for url in [Self.hostile, Self.long] {
            var sequence: SubscriptionSequence? = try self.bus.subscription(to: "app://nobody/**")
            #expect(try await self.bus.publish(url) == 1)
            #expect(sequence != nil)
            sequence = nil
        }
        #expect(await eventually { self.journal.count == 2 })
        self.expectSafe(self.journal.entries, count: 2)
    }

    @Test func `the log entry of messages that a subscriber's buffer dropped is one line`() async throws {
        let sequence = try self.bus.subscription(to: "app://nobody/**", limit: 1, whenFull: .dropOldest)
        for url in [Self.hostile, Self.long, "app://nobody/last"] { try await self.bus.publish(url) }
        #expect(await eventually { self.journal.count == 2 })
        self.expectSafe(self.journal.entries, count: 2)
        withExtendedLifetime(sequence) {}
    }

    @Test func `the error of a scheme that cannot be connected is one line`() {
        struct Nothing: Connector {
            nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable { 1 }
        }
        let errors = [Self.hostile, Self.long].compactMap { scheme in
            #expect(throws: RoutingError.self) { try self.bus.connect(scheme, to: Nothing()) }
        }
        self.expectSafe(errors.map { "\($0)" }, count: 2)
    }

    @Test func `descriptions of messages, replies and dead letters are one line`() async throws {
        let letters = self.bus.deadLetters
        try self.bus.register("app://nobody/:text") { "\($0)" }
        for url in [Self.hostile, Self.long] {
            let reply = try await self.bus.route(url)
            self.expectSafe([try reply.value(as: String.self), "\(reply)"], count: 2)
            self.bus.send(url.replacing("nobody", with: "nowhere"))
        }
        var iterator = letters.makeAsyncIterator()
        for _ in 0..<2 { self.expectSafe([await iterator.next().map { "\($0)" } ?? "\n"], count: 1) }
    }
}
