import Testing
import WaybillTestSupport

@testable import Waybill

/// Return URLs in the messages of peers.
///
/// A fragment cannot circumvent the exposure.
@Suite(.timeLimit(.minutes(1)))
struct ExternalReturnTests {
    private let bus = MessageBus(configuration: .quiet)
    private let heard = Journal<String>()

    init() throws {
        let heard = self.heard
        for place in ["open", "closed", "sent"] {
            try self.bus.register("app://\(place)/:id") { message -> String in
                let origin = message.origin.isLocal ? "local" : "peer"
                heard.add("\(place) \(message.payload ?? "-") \(origin)")
                return place
            }
        }
        try self.bus.register("app://door") { _ in heard.add("door") }
        try self.bus.register("app://pay") { _ in 42 }
        try self.bus.register("app://later") { _ -> Int in
            await Task.yield()
            return 42
        }
        for pattern in ["app://pay", "app://later", "app://open/:id"] { try self.bus.expose(pattern) }
        try self.bus.expose("app://sent/:id", for: .sends)
    }

    private func call(
        _ url: String,
        _ returnHandler: ExternalRequest.ReturnHandler? = nil
    ) async throws -> ReturnLeg.Outcome? {
        let request = ExternalRequest(url: url, origin: .peer, returnHandler: returnHandler)
        return await (try await self.bus.route(request)).returnLeg?.outcome
    }

    @Test(arguments: ["app://pay", "app://later"])
    func `a peer's return URL can be a URL exposed for calls or sends`(url: String) async throws {
        for place in ["open", "sent"] {
            guard case .delivered = try await self.call("\(url)#\(place)/1") else {
                Issue.record("the value did not arrive")
                return
            }
        }
        #expect(self.heard.entries == ["open 42 peer", "sent 42 peer"])
    }

    @Test(arguments: ["app://pay", "app://later"])
    func `a peer's return URL must be exposed, and the error reveals nothing else`(
        url: String
    ) async throws {
        var messages: [String] = []
        for fragment in [
            "app://clozed/1", "app://closed/1", "closed/1", "app://clos%65d/1", "app%3A%2F%2Fclosed%2F1",
            "closed%2F1", "app://closed/1?a=b#app://open/1",
        ] {
            guard case .failed(let error) = try await self.call("\(url)#\(fragment)") else {
                Issue.record("\(fragment) is reached")
                continue
            }
            #expect(error.code == .noRoute && error.route == nil)
            messages.append(error.message)
        }
        #expect(Set(messages).count == 1)
        guard case .failed(let error) = try await self.call("\(url)#app://open/../closed/1") else {
            Issue.record("the path leaves its folder")
            return
        }
        #expect(error.code == .noRoute)
        #expect(self.heard.entries.isEmpty)
        // One segment is a return URL only if it matches a route that the peer may reach.
        #expect(try await self.call("\(url)#door") == nil)
        #expect(self.heard.entries.isEmpty)
    }

    @Test
    func `a return URL within a peer's return URL must be exposed too`() async throws {
        _ = try await self.call("app://pay#app://open/1#app://closed/1")
        _ = try await self.call("app://pay#closed%2F2%23app://open/1")
        _ = try await self.call("app://pay#open%2F1#closed%2F3")
        #expect(await eventually { self.bus.statistics.deadLettered == 3 })
        #expect(self.heard.entries == ["open 42 peer", "open 42 peer"])
    }

    @Test
    func `a return URL that the handler sets need not be exposed`() async throws {
        try self.bus.register("app://own") { message -> Int in
            #expect(message.replaceReturnURL(with: "app://closed/1#app://closed/2"))
            return 1
        }
        try self.bus.register("app://early") { message -> Int in
            message.sendReturn(7)
            return 1
        }
        try self.bus.expose("app://own")
        try self.bus.expose("app://early")
        _ = try await self.call("app://own#open/1")
        #expect(await self.heard.comes(to: "closed closed local"))
        #expect(self.heard.entries == ["closed 1 local", "closed closed local"])
        _ = try await self.call("app://early#closed/1")
        _ = try await self.call("app://early#open/1")
        #expect(self.heard.entries.last == "open 7 peer")
        #expect(self.heard.count == 3)
    }

    @Test
    func `a return URL of the peer's own returns the value to the peer`() async throws {
        try self.bus.register("caller://:x") { _ in Issue.record("a route is no caller") }
        let back = Journal<String>()
        for url in ["caller:7", "CALLER://7", "caller:///7?a=b"] {
            let outcome = try await self.call("app://pay#\(url)") { url, value, headers in
                back.add("\(url) \(value) \(headers)")
            }
            guard case .delivered = outcome else {
                Issue.record("the value did not arrive")
                continue
            }
        }
        #expect(back.entries == ["caller:7 42 [:]", "CALLER://7 42 [:]", "caller:///7?a=b 42 [:]"])
        // For a peer that handles no return URLs, the scheme `caller` has no route.
        guard case .failed = try await self.call("app://pay#caller:7") else {
            Issue.record("it went elsewhere")
            return
        }
        #expect(self.bus.statistics.inFlight == 0)
    }

    @Test
    func `the return URL of a message that a peer sends must be exposed too`() async throws {
        try self.bus.expose("app://pay", for: .sends)
        let back = Journal<String>()
        for fragment in ["open/1", "closed/1", "caller:7"] {
            try self.bus.send(
                ExternalRequest(url: "app://pay#\(fragment)", origin: .peer) { url, value, _ in
                    back.add("\(url) \(value)")
                }
            )
        }
        #expect(await back.comes(to: "caller:7 42"))
        #expect(await self.bus.settles())
        #expect(self.heard.entries == ["open 42 peer"])
    }

    @Test
    func `a configured target for a connector requires an exposed return URL`() async throws {
        struct Memos: Connector {
            nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable { 42 }
        }
        try self.bus.connect("memo", to: Memos())
        try self.bus.load(["app://memo": "memo://one"])
        try self.bus.expose("app://memo")
        guard case .failed(let error) = try await self.call("app://memo#closed/1") else {
            Issue.record("the fragment is a way around")
            return
        }
        #expect(error.code == .noRoute)
        guard case .delivered = try await self.call("app://memo#open/1") else {
            Issue.record("the value did not arrive")
            return
        }
    }
}
