import Testing
import Waybill
import WaybillCompatibility
import WaybillRouting
import WaybillTestSupport

struct WebDestinationTests {
    private let bus = MessageBus(configuration: .quiet)

    @Test
    func `a web destination receives the URL and the caller's values, and returns its reply`()
        async throws
    {
        try self.bus.register("app://browser/open") { message -> String in
            let url: String = try message.argument("url")
            return "\(url) for \(message.headers["user"] ?? "") in tab \(try message.argument("tab") as Int)"
        }
        // The handle of the bus that the connector receives is released before the call.
        try self.bus.connect("https", to: WebDestination("app://browser/open", on: self.bus.unowned))
        let text: String = try await self.bus.route(
            "https://example.com/help?url=no#faq",
            parameters: ["tab": 2],
            headers: ["user": "lili"]
        )
        #expect(text == "https://example.com/help?url=no#faq for lili in tab 2")
        #expect(self.bus.canRoute("https://example.com/"))
        #expect(self.bus.statistics.sent == 2)
    }

    @Test
    func `a closure can be the destination, and a fragment with a scheme is a return URL`() async throws {
        let journal = Journal<String>()
        try self.bus.register("app://seen") { message in
            journal.add(try message.payload(as: String.self))
        }
        try self.bus.connect(
            "https",
            to: WebDestination { message in message.address.segments.joined(separator: " ") }
        )
        let text: String = try await self.bus.route("https://example.com/help#app://seen")
        #expect(text == "example.com help")
        #expect(await journal.comes(to: text))
    }

    @Test
    func `the error of a missing web destination has its name`() async throws {
        try self.bus.connect("https", to: WebDestination(nil, on: self.bus))
        let error = await #expect(throws: RoutingError.self) {
            try await self.bus.route("https://example.com/")
        }
        #expect(error?.code == .noHandler)
        #expect(error?.message.contains("no web destination is configured") == true)
        #expect(!self.bus.canRoute("https://example.com/"))
    }

    @Test
    func `a web destination that fails has its own code`() async throws {
        try self.bus.connect("https", to: WebDestination("app://nowhere", on: self.bus))
        let error = await #expect(throws: RoutingError.self) {
            try await self.bus.route("https://example.com/")
        }
        #expect(error?.code == .handlerFailed)
        #expect("\(try #require(error))".contains("app://nowhere"))
    }
}
