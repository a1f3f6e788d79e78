#if HTTP
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Testing
import Waybill
import WaybillEventLoop
import WaybillJSON
import WaybillRouting
import WaybillTestSupport

@testable import WaybillConsole

/// A cluster with known nodes that handles no messages.
private struct KnownCluster: Cluster {
    let view = ClusterView(
        realm: "shop",
        own: .init(name: "web", id: "w1", patterns: ["app://cart/**"], silence: .zero, isLeaving: false),
        others: [
            .init(
                name: "billing",
                id: "b1",
                patterns: ["app://billing/**"],
                silence: .milliseconds(1500),
                isLeaving: true
            )
        ]
    )

    nonisolated(nonsending) func route(_ message: Message) async throws -> any Sendable {
        throw RoutingError.refused("it takes nothing")
    }

    func canRoute(_ address: Address) -> Bool { false }
    func suggestions(for address: Address) -> [String] { [] }
    func publish(_ message: Message) -> Bool { false }
}

/// The data behind the views of the page.
@Suite(.timeLimit(.minutes(1)))
struct ViewTests {
    private let bus = MessageBus(configuration: .quiet)

    @Test
    func `the console shows the program, its routes, and the explanation of a URL`() async throws {
        try self.bus.register("app://user/<int:uid>") { _ in "Lili" }
        try self.bus.expose("app://user/**")
        let configuration = WaybillConsole.Configuration.quiet { configuration in
            configuration.name = "shop"
        }
        try await ConsoleTestServer.run(self.bus, configuration) { server in
            let about = try #require(try await server.get("api/about").json)
            #expect(about.member(named: "name")?.string == "shop")
            #expect(about.member(named: "instance")?.string == server.console.core.instance)
            #expect(
                about.member(named: "mayAct")?.bool == false && about.member(named: "node")?.isNull == true
            )
            let routes = try #require(try await server.get("api/routes").json)
            let route = try #require(routes.member(named: "routes")?.elements?.first)
            #expect(route.member(named: "pattern")?.string == "app://user/<int:uid>")
            #expect(route.member(named: "exposure")?.elements?.compactMap(\.string) == ["calls"])
            #expect(route.member(named: "fileID")?.string == "WaybillConsoleTests/ViewTests.swift")
            #expect(route.member(named: "mailbox")?.member(named: "waiting")?.int == 0)
            let parameter = route.member(named: "parameters")?.elements?.first
            #expect(parameter?.member(named: "isRequired")?.bool == true)
            #expect(parameter?.member(named: "schema")?.member(named: "type")?.string == "integer")
            let found = try await server.get("api/explain?url=app://user/7").json
            #expect(found?.member(named: "text")?.string?.contains("uid = 7") == true)
            let lost = try await server.get("api/explain?url=app://user/x").json
            #expect(lost?.member(named: "text")?.string?.contains("noRoute") == true)
            #expect(try await server.get("api/explain").status == 400)
            #expect(try await server.get("api/flows/7").status == 404)
            #expect(try await server.get("api/flows/x").status == 400)
        }
    }

    @Test
    func `the console shows the nodes of a cluster`() async throws {
        try await ConsoleTestServer.run(self.bus) { server in
            #expect(try await server.get("api/nodes").text == #"{"joined":false}"#)
            let registration = try self.bus.join(KnownCluster()) {}
            defer { registration.cancel() }
            let json = try #require(try await server.get("api/nodes").json)
            #expect(
                json.member(named: "realm")?.string == "shop" && json.member(named: "node")?.string == "web"
            )
            let nodes = json.member(named: "nodes")?.elements ?? []
            #expect(nodes.map { $0.member(named: "isSelf")?.bool } == [true, false])
            #expect(nodes.last?.member(named: "age")?.double == 1.5)
            #expect(nodes.last?.member(named: "isLeaving")?.bool == true)
        }
    }

    @Test
    func `the console's address without its last slash redirects to the page`() async throws {
        try await ConsoleTestServer.run(self.bus) { server in
            let request = HTTPClientRequest(url: "\(server.origin)/console")
            let answer = try await server.client.execute(request, timeout: .seconds(10))
            #expect(
                answer.status == .permanentRedirect && answer.headers.first(name: "Location") == "console/"
            )
            #expect(try await server.get("").status == 200)
        }
    }

    @Test
    func `snapshots contain the figures of routes and loops`() async throws {
        try self.bus.register("app://a") { _ in 1 }
        try await ConsoleTestServer.run(self.bus) { server in
            let log = try await server.watch {
                for _ in 0..<50 { _ = try await self.bus.route("app://a", as: Int.self) }
            } until: { log in
                log.text.contains(#""pattern":"app://a","sent":50"#) && log.text.contains(#""histogram":[["#)
            }
            let loops = log.last?.member(named: "loops")?.elements ?? []
            #expect(loops.count == 1 && (loops.first?.member(named: "lag")?.int ?? -1) >= 0)
            #expect(log.last?.member(named: "bus")?.member(named: "replied")?.int == 50)
        }
    }

    @Test
    func `a snapshot names the routes that were unregistered`() async throws {
        try self.bus.register("app://a") { _ in 1 }
        let registration = try self.bus.register("app://b") { _ in 1 }
        try await ConsoleTestServer.run(self.bus) { server in
            try await server.watch {
                _ = try await self.bus.route("app://b", as: Int.self)
            } until: { log in
                guard log.text.contains(#""pattern":"app://b","sent":1"#) else { return false }
                registration.cancel()
                return log.text.contains(#""removed":["app://b"]"#)
            }
        }
    }

    @Test
    func `the console shows the possible addresses of each route`() async throws {
        try self.bus.register(#"app://user/:id(\d+)"#) { _ in 1 }
        try self.bus.register("app://shop/list(/:page)") { _ in 1 }
        try await ConsoleTestServer.run(self.bus) { server in
            let routes = try await server.get("api/routes").json?.member(named: "routes")?.elements ?? []
            let addresses = routes.map { $0.member(named: "addresses")?.elements?.compactMap(\.string) ?? [] }
            #expect(
                addresses == [["app://shop/list/{page}", "app://shop/list"], ["app://user/{id}"]]
            )
        }
    }
}
#endif
