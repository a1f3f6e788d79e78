#if HTTP
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillConsole

/// Access to the console, and the headers of its responses.
@Suite(.timeLimit(.minutes(2)))
struct AccessTests {
    private let bus = MessageBus(configuration: .quiet)

    private static let reads = [
        "api/about", "api/routes", "api/explain?url=app://a", "api/nodes", "api/deadletters", "api/stream",
        "api/stores", "api/flows/1", "api/nothing",
    ]
    private static let acts = [
        ("api/call", #"{"url":"app://act"}"#), ("api/deadletters/replay", #"{"code":"noRoute"}"#),
    ]

    @Test
    func `the console's link sets a cookie, which opens the page`() async throws {
        try await ConsoleTestServer.run(self.bus, .quiet { $0.token = "a/b c" }) { server in
            #expect(server.console.link(at: "http://x/console") == "http://x/console/?token=a%2Fb%20c")
            let signIn = try await server.send(.GET, "?token=a%2Fb%20c", cookie: nil)
            #expect(signIn.status == 303 && signIn.headers.first(name: "Location") == "./")
            let short = HTTPClientRequest(url: "\(server.origin)/console?token=a%2Fb%20c")
            let answer = try await server.client.execute(short, timeout: .seconds(10))
            #expect(answer.status == .seeOther && answer.headers.first(name: "Location") == "console/")
            let cookie = try #require(signIn.headers.first(name: "Set-Cookie"))
            #expect(cookie.hasSuffix("; Path=/console/; HttpOnly; SameSite=Strict"))
            #expect(!cookie.contains("a/b") && cookie.hasPrefix("waybill-console="))
            let page = try await server.send(
                .GET,
                "",
                cookie: cookie.split(separator: ";").first.map(String.init)
            )
            #expect(page.status == 200 && page.text.contains("<html"))
        }
    }

    @Test
    func `a form can sign in to the console, also from a page without a referrer`() async throws {
        try await ConsoleTestServer.run(self.bus, .quiet { $0.token = "a b" }) { server in
            let form = ["Content-Type": "application/x-www-form-urlencoded", "Origin": "null"]
            // Anybody can send a form, so a long form is not kept in memory.
            let long = "token=" + String(repeating: "x", count: 5_000)
            let refused = try await server.send(.POST, "session", headers: form, body: long, cookie: nil)
            #expect(refused.status == 413)
            let right = try await server.send(.POST, "session", headers: form, body: "token=a+b", cookie: nil)
            #expect(right.status == 303 && right.headers.first(name: "Set-Cookie") != nil)
            for body in ["token=a", "token=", "other=a+b", ""] {
                let wrong = try await server.send(.POST, "session", headers: form, body: body, cookie: nil)
                #expect(wrong.status == 401 && wrong.headers.first(name: "Set-Cookie") == nil)
            }
        }
    }

    @Test
    func `texts that take quadratic time to compare are rejected at once`() async throws {
        let marks = "e" + String(repeating: "\u{301}\u{316}", count: 200_000)
        let short = "e" + String(repeating: "\u{301}\u{316}", count: 5000)
        try await ConsoleTestServer.run(self.bus) { server in
            for _ in 0..<10 {
                let headers = ["Content-Type": "application/x-www-form-urlencoded"]
                let few = "e" + String(repeating: "\u{301}\u{316}", count: 500)
                for (text, status) in [(marks, 413), (few, 401)] {
                    for body in [text, "\(text)=1", "token=\(text)"] {
                        let form = try await server.send(
                            .POST,
                            "session",
                            headers: headers,
                            body: body,
                            cookie: nil
                        )
                        #expect(form.status == status)
                    }
                }
                let cookie = try await server.send(.GET, "api/about", cookie: "\(short)=\(short)")
                #expect(cookie.status == 401)
            }
        }
    }

    @Test
    func `without a valid cookie the console answers each request with 401`() async throws {
        try await ConsoleTestServer.run(self.bus, .quiet { $0.allowsActions = true }) { server in
            for cookie in [nil, "waybill-console=", "waybill-console=\(String(repeating: "0", count: 32))"] {
                for path in Self.reads {
                    let answer = try await server.send(.GET, path, cookie: cookie)
                    #expect(answer.status == 401, "\(path)")
                    #expect(answer.headers.first(name: "Content-Type") == "application/problem+json")
                }
                for (path, body) in Self.acts {
                    let headers = ["Content-Type": "application/json", "Origin": server.origin]
                    let answer = try await server.send(
                        .POST,
                        path,
                        headers: headers,
                        body: body,
                        cookie: cookie
                    )
                    #expect(answer.status == 401, "\(path)")
                }
                let page = try await server.send(.GET, "", cookie: cookie)
                #expect(page.status == 401 && page.text.contains("<form"))
                #expect(try await server.send(.GET, "?token=wrong", cookie: cookie).status == 401)
            }
            for path in ["console.css", "main.js"] {
                #expect(try await server.send(.GET, path, cookie: nil).status == 200)
            }
        }
        #expect(self.bus.statistics.sent == 0)
    }

    @Test
    func `requests for another host get 421, and requests from another page get 403`() async throws {
        try await ConsoleTestServer.run(self.bus, .quiet { $0.allowsActions = true }) { server in
            for path in Self.reads + ["", "console.css", "main.js", "?token=x"] {
                for host in ["evil.example", "[::1]evil.com", "localhost:18080@evil", "127.0.0.1:80@evil"] {
                    let headers = ["Host": host]
                    let answer = try await server.send(.GET, path, headers: headers, cookie: server.cookie)
                    #expect(answer.status == 421, "\(host)")
                }
                let page = ["Origin": "http://evil.example"]
                #expect(try await server.send(.GET, path, headers: page, cookie: server.cookie).status == 403)
            }
            for (path, body) in Self.acts + [("session", "token=x")] {
                for page in ["http://evil.example", "http://127.0.0.1:1", "https://127.0.0.1:\(server.port)"]
                {
                    let headers = ["Content-Type": "application/json", "Origin": page]
                    let answer = try await server.send(
                        .POST,
                        path,
                        headers: headers,
                        body: body,
                        cookie: server.cookie
                    )
                    // A page with `https` has the authority of this server, because a proxy may have ended
                    // the encryption.
                    #expect((answer.status == 403) != page.hasPrefix("https"), "\(path) \(page)")
                }
            }
            for (path, body) in Self.acts {
                let none = ["Content-Type": "application/json"]
                #expect(
                    try await server.send(.POST, path, headers: none, body: body, cookie: server.cookie)
                        .status == 403
                )
                let null = ["Content-Type": "application/json", "Origin": "null"]
                #expect(
                    try await server.send(.POST, path, headers: null, body: body, cookie: server.cookie)
                        .status == 403
                )
                let form = ["Content-Type": "text/plain", "Origin": server.origin]
                #expect(
                    try await server.send(.POST, path, headers: form, body: body, cookie: server.cookie)
                        .status == 415
                )
            }
        }
    }

    @Test
    func `a read-only console rejects actions and other methods`() async throws {
        let called = Tally()
        try self.bus.register("app://act") { _ in called.add() }
        self.bus.send("app://nowhere")
        #expect(await eventually { self.bus.statistics.deadLettered == 1 })
        try await ConsoleTestServer.run(self.bus) { server in
            for (path, body) in Self.acts {
                let answer = try await server.post(path, body)
                #expect(answer.status == 403 && answer.text.contains("allowsActions"), "\(path)")
            }
            let methods: [HTTPMethod] = [.PUT, .PATCH, .DELETE, .POST, .OPTIONS]
            for method in methods {
                for path in Self.reads.dropLast() + ["", "console.css"] {
                    let headers = ["Content-Type": "application/json", "Origin": server.origin]
                    let answer = try await server.send(
                        method,
                        path,
                        headers: headers,
                        body: method == .OPTIONS ? nil : "{}",
                        cookie: server.cookie
                    )
                    #expect(
                        answer.status == 405 && answer.headers.first(name: "Allow") == "GET",
                        "\(method) \(path)"
                    )
                }
            }
            for path in ["api/call", "api/deadletters/replay", "session"] {
                #expect(try await server.send(.GET, path, cookie: server.cookie).status == 405)
            }
        }
        #expect(called.count == 0 && self.bus.statistics.sent == 1)
    }

    @Test
    func `the console's responses forbid content from other sites`() async throws {
        try await ConsoleTestServer.run(self.bus) { server in
            for path in Self.reads.filter({ !$0.hasSuffix("stream") }) + [
                "", "console.css", "main.js", "nothing",
            ] {
                for cookie in [server.cookie, nil] {
                    let headers = try await server.send(.GET, path, cookie: cookie).headers
                    let policy = headers.first(name: "Content-Security-Policy") ?? ""
                    #expect(
                        policy.hasPrefix("default-src 'none'; script-src 'self'; ")
                            && !policy.contains("unsafe")
                    )
                    #expect(policy.contains("frame-ancestors 'none'"))
                    #expect(headers.first(name: "X-Content-Type-Options") == "nosniff")
                    #expect(headers.first(name: "Referrer-Policy") == "no-referrer")
                    #expect(headers.first(name: "Cache-Control") == "no-store")
                }
            }
        }
    }
}
#endif
