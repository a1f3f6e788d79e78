#if Web
import AsyncHTTPClient
import Logging
import Testing
import Waybill
import WaybillRouting
import WaybillWeb
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct WebConnectorTests {
    struct Order: Codable, Sendable { var id: Int }
    struct Opaque: Sendable {}

    let bus = MessageBus(
        configuration: .init(logger: Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() })
    )

    init() throws { try self.bus.connect("http", to: WebConnector()) }

    func failure(_ url: String, _ parameters: [String: any Sendable] = [:]) async -> RoutingError? {
        do throws(RoutingError) {
            try await self.bus.route(url, parameters: parameters)
            return nil
        } catch {
            return error
        }
    }

    @Test func `the reply of a web connector has status, headers and body`() async throws {
        try await WebServer.run { server in
            let response: WebResponse = try await self.bus.route(server.url("/echo?a=%41&b=%2F"))
            #expect(response.status == 200 && response.isSuccess)
            #expect(response.text.hasPrefix("GET /echo?a=%41&b=%2F"))
            #expect(response.headers["X-Two"] == "b" && response.headers.all("x-one") == ["a", "b"])
            let missing: WebResponse = try await self.bus.route(server.url("/missing"))
            #expect(missing.status == 404 && !missing.isSuccess && missing.text == "nothing here")
            let moved: WebResponse = try await self.bus.route(server.url("/moved"))
            #expect(moved.status == 302 && moved.headers["location"] == "/echo?moved")
        }
    }

    @Test(arguments: [
        ("/echo?q=Jürgen&x=a%20%26%20b", "/echo?q=J%C3%BCrgen&x=a%20%26%20b"),
        ("/ü%20b/[1]?q=%41", "/%C3%BC%20b/%5B1%5D?q=%41"),
        ("/100%/%2f%zz?a=50%&b=%20", "/100%25/%2f%25zz?a=50%25&b=%20"),
        ("/a b?c={d}%7D?/:@!$&'()*+,;=-._~#e%20 ü", "/a%20b?c=%7Bd%7D%7D?/:@!$&'()*+,;=-._~"),
    ])
    func `characters that a URI must not contain are encoded, and encoded characters stay unchanged`(
        path: String,
        target: String
    ) async throws {
        try await WebServer.run { server in
            let response: WebResponse = try await self.bus.route(server.url(path))
            #expect(response.status == 200 && server.journal.entries == ["GET \(target)"])
        }
    }

    @Test func `headers, method and body of a request are those of the call, not of the URL`() async throws {
        try await WebServer.run { server in
            let url = server.url("/echo?method=DELETE&body=no")
            let plain: WebResponse = try await self.bus.route(url, headers: ["x-user": "7"])
            #expect(plain.text == "GET /echo?method=DELETE&body=no x-user=7 ")
            let post: WebResponse = try await self.bus.route(url, parameters: ["body": "text"])
            #expect(post.text.hasPrefix("POST ") && post.text.hasSuffix(" text"))
            let put: WebResponse = try await self.bus.route(
                url,
                parameters: ["method": "PUT", "body": Array("bytes".utf8)]
            )
            #expect(put.text.hasPrefix("PUT ") && put.text.hasSuffix(" bytes"))
            for method in ["", "get", "GET / HTTP/1.1\r\nx: y\r\n", "GE T"] {
                #expect(await self.failure(url, ["method": method])?.code == .invalidParameter)
            }
            let opaque: @Sendable () -> Void = {}
            #expect(await self.failure(url, ["body": opaque])?.code == .notTransferable)
            let smuggled = try? await self.bus.route(url, headers: ["x-a": "1\r\nx-b: 2"])
            #expect(smuggled == nil && server.journal.entries.count == 3)
        }
    }

    @Test func `a caller with a closure receives the body in parts`() async throws {
        try await WebServer.run { server in
            var parts: [WebResponse] = []
            let last: WebResponse = try await self.bus.route(server.url("/long")) { (part: WebResponse) in
                parts.append(part)
            }
            #expect(last.status == 200 && last.body.isEmpty && !parts.isEmpty)
            #expect(parts.map(\.body.count).reduce(0, +) == 64_000)
            #expect(parts.allSatisfy { $0.status == 200 && $0.headers == last.headers })
            // A caller whose closure expects another type receives an error with the correct type.
            let error = await #expect(throws: RoutingError.self) {
                let _: WebResponse = try await self.bus.route(server.url("/long")) { (_: Int) in }
            }
            #expect(error?.message == "expected Int, but the progress reply is WebResponse")
        }
    }

    @Test func `leaving the loop over replies ends the web request`() async throws {
        try await WebServer.run { server in
            for try await reply in self.bus.replies(to: server.url("/stuck")) {
                #expect(try reply.value(as: WebResponse.self).text == "first")
                break
            }
            #expect(await server.journal.comes(to: "closed"))
            #expect(self.bus.statistics.cancelled == 1)
        }
    }

    @Test func `a response body beyond the limit is rejected`() async throws {
        var configuration = WebConnector.Configuration()
        configuration.bodyLimit = 10_000
        try self.bus.connect("http", to: WebConnector(configuration: configuration))
        try await WebServer.run { server in
            let error = await self.failure(server.url("/long"))
            #expect(error?.code == .refused && error?.message.contains("10000 bytes") == true)
            var count = 0
            let _: WebResponse = try await self.bus.route(server.url("/long")) { (part: WebResponse) in
                count += part.body.count
            }
            #expect(count == 64_000)
        }
    }

    @Test(arguments: ["/stuck", "/long"])
    func `an error of the caller's closure reaches the caller and ends the web request`(
        path: String
    ) async throws {
        struct Full: Error {}
        var configuration = WebConnector.Configuration()
        configuration.bodyLimit = 10_000
        try self.bus.connect("http", to: WebConnector(configuration: configuration))
        try await WebServer.run { server in
            var parts = 0
            let error = await #expect(throws: RoutingError.self) {
                let _: WebResponse = try await self.bus.route(server.url(path), timeout: .seconds(20)) {
                    (_: WebResponse) in
                    parts += 1
                    throw Full()
                }
            }
            #expect(error?.cause is Full, "\(error as Any)")
            #expect(parts == 1)
            // The client keeps the connection of a response that has arrived as a whole.
            if path == "/stuck" { #expect(await server.journal.comes(to: "closed")) }
        }
    }

    @Test(arguments: ["/silent", "/stuck"])
    func `the deadline ends a web request`(path: String) async throws {
        try await WebServer.run { server in
            let error = await #expect(throws: RoutingError.self) {
                try await self.bus.route(server.url(path), deadline: .now + Scale.whileQuick / 2)
            }
            #expect(error?.code == .deadlineExceeded)
            #expect(await server.journal.comes(to: "closed"))
        }
    }

    @Test func `without a deadline the connector's timeout limits the wait for a response`() async throws {
        var configuration = WebConnector.Configuration()
        configuration.timeout = .milliseconds(100)
        try self.bus.connect("http", to: WebConnector(configuration: configuration))
        try await WebServer.run { server in
            let error = await self.failure(server.url("/silent"))
            #expect(error?.code == .deadlineExceeded && error?.cause is HTTPClientError)
        }
    }

    @Test func `cancelling the caller ends the web request`() async throws {
        try await WebServer.run { server in
            let caller = Task { await self.failure(server.url("/silent")) }
            #expect(await server.journal.comes(to: "GET /silent"))
            caller.cancel()
            #expect(await caller.value?.code == .cancelled)
            #expect(await server.journal.comes(to: "closed"))
        }
    }

    @Test func `a web server that is not there fails with unreachable`() async throws {
        let url = try await WebServer.run { $0.url("/gone") }
        let gone = await self.failure(url)
        #expect(gone?.code == .unreachable && gone?.cause != nil && gone?.url == url)
        try await WebServer.run { server in
            #expect(await self.failure(server.url("/broken"))?.code == .unreachable)
        }
    }

    @Test func `a web client is shut down only by the code that created it`() async throws {
        let client = HTTPClient()
        try self.bus.connect("http", to: WebConnector(client: client))
        try await WebServer.run { server in
            let response: WebResponse = try await self.bus.route(server.url("/echo"))
            #expect(response.status == 200)
            try await client.shutdown()
            #expect(await self.failure(server.url("/echo"))?.code == .unreachable)
        }
    }

    @Test(arguments: ["http://", "http:", "http:///", "http://?a", "http://#a", "http:a/b", "http://[::1/x"])
    func `an http URL without a valid host fails with invalidURL`(url: String) async {
        let error = await self.failure(url)
        #expect(error?.code == .invalidURL && error?.url == url)
    }

    @Test(arguments: ["http://127.0.0.1:65536/", "http://127.0.0.1:99999999/", "http://[::1]:70000/"])
    func `a URL with an impossible port fails with invalidURL`(url: String) async {
        #expect(await self.failure(url)?.code == .invalidURL)
    }

    @Test(arguments: [
        "http://127.0.0.1:-1/", "http://127.0.0.1:99999999999999999999/", "http://127.0.0.1:0/",
        "http://a\r\nb/", "http://@:/%00", "http://\u{1b}[31m/",
    ])
    func `hostile URLs fail with an error`(url: String) async {
        #expect(await self.failure(url) != nil)
    }

    @Test func `a web connector rejects a scheme other than http and https`() async throws {
        try self.bus.connect("gopher", to: WebConnector())
        #expect(await self.failure("gopher://127.0.0.1/")?.code == .invalidURL)
    }

    @Test func `a fragment is not sent to the web server, unless it is a return URL with a scheme`()
        async throws
    {
        let journal = Journal<String>()
        try self.bus.register("app://home") { message in
            journal.add("home \(try message.payload(as: WebResponse.self).status)")
        }
        try await WebServer.run { server in
            _ = try await self.bus.route(server.url("/echo#part/two"))
            _ = try await self.bus.route(server.url("/echo#app://home"))
            #expect(await journal.comes(to: "home 200"))
            #expect(server.journal.entries == ["GET /echo", "GET /echo"])
            #expect(self.bus.statistics.sent == 3)
        }
    }

    @Test func `values are sent as JSON, or with the content type in the headers`() async throws {
        try await WebServer.run { server in
            let url = server.url("/save")
            try await self.bus.route(url, parameters: ["body": Order(id: 7)])
            try await self.bus.route(url, parameters: ["body": 7, "method": "PUT"])
            let headers = ["content-type": "application/vnd.order+json"]
            try await self.bus.route(url, parameters: ["body": Order(id: 8)], headers: headers)
            #expect(
                server.journal.entries == [
                    #"POST /save application/json {"id":7}"#, "PUT /save application/json 7",
                    #"POST /save application/vnd.order+json {"id":8}"#,
                ]
            )
        }
    }

    @Test func `a return URL can call a web hook with text, bytes or JSON`() async throws {
        try self.bus.register("app://text") { _ in "paid" }
        try self.bus.register("app://order") { _ in Order(id: 7) }
        try self.bus.register("app://opaque") { _ in Opaque() }
        var letters = self.bus.deadLetters.makeAsyncIterator()
        try await WebServer.run { server in
            _ = try await self.bus.route("app://text#\(server.url("/hook"))")
            #expect(await server.journal.comes(to: "POST /hook paid"))
            _ = try await self.bus.route("app://order#\(server.url("/hook"))")
            #expect(await server.journal.comes(to: #"POST /hook application/json {"id":7}"#))
            _ = try await self.bus.route("app://opaque#\(server.url("/hook"))")
            #expect(await letters.next()?.error.code == .notTransferable)
        }
    }
}
#endif
