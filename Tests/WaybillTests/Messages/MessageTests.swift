import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct MessageTests {
    let bus = MessageBus(configuration: .quiet)

    @Test func `a message prints on one line: its ID, its URL, and the answered ID`() async throws {
        try self.bus.register("app://a") { "\($0)" }
        let reply = try await self.bus.route("app://a?b=1")
        #expect(reply.value as? String == "message \(reply.correlationID) to app://a?b=1")
        let seen = Journal<String>()
        try self.bus.register("app://home") { seen.add("\($0)") }
        let first = try await self.bus.route("app://a#home")
        #expect(await eventually { seen.count == 1 })
        #expect(seen.entries[0].hasSuffix(" to app://home answering \(first.correlationID)"))
    }

    @Test func `a reply prints on one line: its ID, its URL, and its value`() async throws {
        try self.bus.register("app://a") { _ in 42 }
        let reply = try await self.bus.route("app://a")
        #expect("\(reply)" == "reply \(reply.correlationID) from app://a: 42")
    }

    @Test(arguments: ["app://a\nb", "app://a?x=\r\n", "app://nobody/\u{2028}x", "app://nobody/\u{85}"])
    func `a message prints on one line for any URL`(url: String) async throws {
        let seen = Journal<String>()
        self.bus.setUncaughtHandler { seen.add("\($0)") }
        try self.bus.register("app://**") { "\($0)" }
        let error = await failure { try await self.bus.route(url, as: Int.self) }
        let printed = "\(error.map { "\($0)" } ?? "") \(seen.entries)"
        #expect(!printed.contains { $0.isNewline })
        let text = try? await self.bus.route(url, as: String.self)
        #expect(text?.contains { $0.isNewline } != true)
    }

    @Test func `reading a missing payload, or one of another type, is an error`() async throws {
        try self.bus.register("app://none") { _ = try $0.payload(as: Int.self) }
        let missing = await failure { try await self.bus.route("app://none") }
        #expect(missing?.code == .missingParameter && missing?.message.contains("Int") == true)
        let seen = Journal<RoutingError?>()
        try self.bus.register("app://a") { _ in "text" }
        try self.bus.register("app://home") { message in
            seen.add(await failure { try message.payload(as: Int.self) })
        }
        try await self.bus.route("app://a#home")
        #expect(await eventually { seen.count == 1 })
        let wrong = seen.entries[0]
        #expect(wrong?.code == .typeMismatch)
        #expect(wrong?.message.contains("Int") == true && wrong?.message.contains("String") == true)
    }

    @Test func `a correlation ID is written as text and read back`() {
        let id = CorrelationID(rawValue: 0xABCDEF)
        #expect("\(id)" == "abcdef" && id < CorrelationID(rawValue: 0xABCDF0))
        #expect("\(CorrelationID(rawValue: .max))".count == 16)
    }
}
