import Logging
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct LoggingMiddlewareTests {
    let bus = MessageBus(configuration: .quiet)
    let journal = Journal<String>()

    private var logger: Logger { Logger(label: "log") { [journal] _ in JournalLogHandler(journal: journal) } }

    @Test func `the logging middleware writes start and outcome with pattern, duration and code`()
        async throws
    {
        try self.bus.register("app://user/:uid") { try $0.parameters.require("uid", as: Int.self) }
        self.bus.use(LoggingMiddleware(logger: self.logger, startLevel: .trace))
        _ = try await self.bus.route("app://user/7", as: Int.self)
        _ = await failure { try await self.bus.route("app://user/x") }
        let entries = self.journal.entries
        #expect(entries.count == 4)
        #expect(entries[0].hasPrefix("delivering id=") && entries[0].contains("pattern=app://user/:uid"))
        #expect(entries[1].hasPrefix("replied duration=") && entries[1].hasSuffix("url=app://user/7"))
        #expect(entries[3].hasPrefix("failed code=invalidParameter duration="))
    }

    @Test func `the logging middleware without a logger writes to the bus's log`() async throws {
        let bus = MessageBus(configuration: .init(logger: self.logger))
        try bus.register("app://user") { _ in 1 }
        bus.use(LoggingMiddleware(level: .info))
        _ = try await bus.route("app://user", as: Int.self)
        #expect(self.journal.entries.map { $0.hasPrefix("replied duration=") } == [true])
    }

    @Test func `the logging middleware writes nothing below its logger's level`() async throws {
        try self.bus.register("app://a") { _ in }
        var logger = self.logger
        logger.logLevel = .error
        self.bus.use(LoggingMiddleware(logger: logger))
        try await self.bus.route("app://a", as: Void.self)
        _ = await failure { try await self.bus.route("app://b") }
        #expect(self.journal.count == 0)
    }
}
