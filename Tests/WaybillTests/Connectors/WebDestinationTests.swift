import Testing
import Waybill
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct WebDestinationTests {
    private let bus = MessageBus(configuration: .quiet)

    @Test func `a web destination opens the URLs of its scheme`() async throws {
        try self.bus.connect("https", to: WebDestinationConnector { "opened \($0.address.text)" })
        #expect(self.bus.canRoute("https://example.com/"))
        let page: String = try await self.bus.route("https://example.com/a?b=c")
        #expect(page == "opened https://example.com/a?b=c")
    }

    @Test func `a route may be the web destination, and gets the URL`() async throws {
        try self.bus.register("app://browser/page") { message in
            try message.parameters.require("url") + " " + (message.parameters["tab"] ?? "")
        }
        try self.bus.connect(
            "https",
            to: WebDestinationConnector(opening: "app://browser/page", on: self.bus)
        )
        let page: String = try await self.bus.route("https://example.com/", parameters: ["tab": "new"])
        #expect(page == "https://example.com/ new")
    }

    @Test func `without a web destination the error says so`() async throws {
        try self.bus.connect("http", to: WebDestinationConnector())
        #expect(!self.bus.canRoute("http://example.com/"))
        let error = await failure { try await self.bus.route("http://example.com/") }
        #expect(error?.code == .noHandler)
        #expect(error?.message.contains("no web destination is configured") == true)
    }
}
