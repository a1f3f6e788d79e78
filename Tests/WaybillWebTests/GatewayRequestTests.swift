#if Web
import Testing
import Waybill
import WaybillRouting
import WaybillTestSupport
import WaybillWeb

/// The requests of a gateway connector, as a web server receives them.
@Suite(.timeLimit(.minutes(1)))
struct GatewayRequestTests {
    let bus = MessageBus(configuration: .quiet)

    @Test(arguments: [
        ("app://x/y?name=Jürgen&text=a%20%26%20b", "app/x/y?name=J%C3%BCrgen&text=a%20%26%20b"),
        ("app://ü%20b/50%", "app/%C3%BC%20b/50%25"),
        ("app:/feed?u=http://x", "app/feed?u=http://x"),
        ("app:feed/1", "app/feed/1"),
        ("app:///feed?a=b", "app/feed?a=b"),
        ("feed/1", "app/feed/1"),
    ])
    func `a URL reaches the gateway as a path with the same encoded characters`(
        url: String,
        path: String
    ) async throws {
        try await WebServer.run { server in
            try self.bus.connect("app", to: GatewayConnector(server.url("/bus")))
            let reply: Int = try await self.bus.route(url)
            #expect(reply == 1)
            // The server may already have noted the end of the connection, too.
            let requests = server.journal.entries.filter { $0 != "closed" }
            #expect(requests == ["POST /bus/\(path) application/json {}"])
        }
    }

    /// Returns the errors of a call, of `fingerprint()` and of a subscription.
    private func errors(of connector: GatewayConnector) async throws -> [RoutingError?] {
        try self.bus.connect("app", to: connector)
        let call = await #expect(throws: RoutingError.self) { try await self.bus.route("app://x") }
        let fingerprint = await #expect(throws: RoutingError.self) { try await connector.fingerprint() }
        let subscription = await #expect(throws: RoutingError.self) {
            for try await _ in connector.subscription(to: "app://x") {}
        }
        return [call, fingerprint, subscription]
    }

    @Test func `a gateway with an impossible port fails with invalidURL`() async throws {
        for error in try await self.errors(of: GatewayConnector("http://127.0.0.1:80800/bus")) {
            #expect(error?.code == .invalidURL)
            #expect(error?.message == "80800 is not a port: ports are numbers from 0 to 65535")
        }
    }

    @Test(arguments: [
        ("sign-in", "302 and no content type"), ("page", "200 and text/html"),
        ("empty", "204 and no content type"),
    ])
    func `a server that is not a gateway is reported with its status and content type`(
        path: String,
        answer: String
    ) async throws {
        try await WebServer.run { server in
            for error in try await self.errors(of: GatewayConnector(server.url("/bus/\(path)"))) {
                #expect(error?.code == .refused)
                #expect(error?.message.contains("answers with status \(answer) instead of") == true)
            }
        }
    }

    @Test func `a call to a gateway has one hop more than a message on the same bus`() async throws {
        try self.bus.register("app://first") { [unowned bus] _ -> Int in
            try await bus.route("app://second", headers: ["waybill-hops": "0"])
        }
        try await WebServer.run { server in
            try self.bus.connect("app", to: GatewayConnector(server.url("/bus")))
            let hops: Int = try await self.bus.route("app://first")
            #expect(hops == 2)
        }
    }

    @Test func `a call reaches the gateway while nine subscriptions are open`() async throws {
        try await WebServer.run { server in
            let connector = GatewayConnector(server.url("/bus"))
            try self.bus.connect("app", to: connector)
            let subscription = connector.subscription(to: "app://prices")
            let readers = (0..<9).map { _ in subscription.makeAsyncIterator() }
            try #require(await eventually { server.journal.entries.count == readers.count })
            let reply: Int = try await self.bus.route("app://x")
            #expect(reply == 1)
            withExtendedLifetime(readers) {}
        }
    }
}
#endif
