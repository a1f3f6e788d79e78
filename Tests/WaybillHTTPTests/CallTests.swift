#if HTTP
import Foundation
import Hummingbird
import Logging
import NIOHTTP1
import Testing
import Waybill
import WaybillEventLoop
import WaybillHTTP
import WaybillTestSupport

/// Binds a task-local value in the task that answers a request.
private struct Binding: RouterMiddleware {
    typealias Context = BasicRequestContext

    @concurrent
    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: @concurrent (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        try await WaybillTestSupport.Context.$name.withValue("trace") { try await next(request, context) }
    }
}

/// Replaces the body of each request by a sequence, as a middleware that decompresses bodies does.
private struct ReplacedBody: RouterMiddleware {
    typealias Context = BasicRequestContext

    @concurrent
    func handle(
        _ request: Request,
        context: BasicRequestContext,
        next: @concurrent (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        var request = request
        request.body = RequestBody(asyncSequence: request.body)
        return try await next(request, context)
    }
}

/// Calls over HTTP, and their failures.
@Suite(.timeLimit(.minutes(2)))
struct CallTests {
    private struct User: Codable, Sendable { var name: String }
    private struct Secret: Error {}

    private let bus = MessageBus(configuration: .quiet)

    init() throws {
        try self.bus.register("app://user/:id") { message in
            User(name: "\(message.parameters["id"] ?? "-") \(message.parameters["name"] ?? "-")")
        }
        try self.bus.register("app://add") { message in
            try message.parameters.require("a", as: Int.self) + message.parameters.require("b", as: Int.self)
        }
        try self.bus.register("app://nothing") { _ in }
        try self.bus.register("app://hidden") { _ in "hidden" }
        try self.bus.expose("app://user/:id", for: .reads)
        for pattern in ["app://add", "app://nothing", "app://fails/:how", "app://echo"] {
            try self.bus.expose(pattern)
        }
    }

    @Test
    func `an error that a module declares is a problem document with its status, message and value`()
        async throws
    {
        try self.bus.register("app://orders/:id") { message -> Int in
            throw OrderError.unknown(id: try message.argument("id"))
        }
        try self.bus.expose("app://orders/:id")
        try await GatewayServer.run(self.bus) { server in
            let answer = try await server.send(.POST, "app/orders/99")
            #expect(answer.status == 404)
            #expect(answer.headers["Content-Type"] == ["application/problem+json"])
            for part in [
                #""detail":"there is no order 99""#, #""code":"handlerFailed""#, #""title":"Not Found""#,
                #""error":{"type":"OrderError","code":"unknown","status":404,"value":{"unknown":{"id":99}}}"#,
            ] {
                #expect(answer.text.contains(part), "\(answer.text)")
            }
        }
    }

    @Test
    func `path, query, JSON and forms become a message's URL and parameters`() async throws {
        try await GatewayServer.run(self.bus) { server in
            let get = try await server.send(.GET, "app/user/1?name=Lili%20B")
            #expect(get.status == 200 && get.text == "{\"name\":\"1 Lili B\"}")
            #expect(get.headers.first(name: "Content-Type") == "application/json")
            let post = try await server.send(.POST, "app/user/a%2Fb", body: "{\"name\":\"x\",\"id\":\"y\"}")
            #expect(post.text == "{\"name\":\"a/b x\"}")
            let json = try await server.send(.POST, "app/add", body: "{\"a\":1,\"b\":2}")
            #expect(json.status == 200 && json.text == "3")
            let whole = try await server.send(.POST, "app/add", body: "{\"a\":1.0,\"b\":2e0}")
            #expect(whole.status == 200 && whole.text == "3")
            let type = "application/x-www-form-urlencoded; charset=utf-8"
            let form = try await server.send(.POST, "app/add", body: "a=%31&b=2", type: type)
            #expect(form.text == "3")
            let query = try await server.send(.POST, "app/add?a=1&b=2")
            #expect(query.text == "3")
            let nothing = try await server.send(.POST, "app/nothing")
            #expect(nothing.status == 204 && nothing.text.isEmpty)
        }
    }

    @Test
    func `the handler has the task-local values of the web server's middlewares`() async throws {
        try self.bus.register("app://bound") { _ in Context.name }
        try self.bus.register("app://bound/later") { _ async in
            await Task.yield()
            return Context.name
        }
        for pattern in ["app://bound", "app://bound/later"] { try self.bus.expose(pattern, for: .reads) }
        let prepare: (Router<BasicRequestContext>) -> Void = { $0.add(middleware: Binding()) }
        try await GatewayServer.run(self.bus, prepare: prepare) { server in
            for path in ["app/bound", "app/bound/later"] {
                let answer = try await server.send(.GET, path)
                #expect(answer.text == "\"trace\"")
            }
        }
    }

    @Test(arguments: [HTTPMethod.GET, .POST], [false, true])
    func `a body is read whether its length is given or it arrives in chunks`(
        method: HTTPMethod,
        isChunked: Bool
    ) async throws {
        try await GatewayServer.run(self.bus) { server in
            for _ in 0..<3 {
                let body = "{\"name\":\"Lili\"}"
                let answer = try await server.send(method, "app/user/1", body: body, isChunked: isChunked)
                #expect(answer.status == 200 && answer.text == "{\"name\":\"1 Lili\"}")
                #expect(answer.headers.first(name: "Connection") == nil)
                #expect(try await server.send(method, "app/user/2").text == "{\"name\":\"2 -\"}")
            }
        }
    }

    @Test
    func `a body that is not an object is the payload, and the handler's types decode its values`()
        async throws
    {
        try self.bus.register("app://echo") { message -> [User] in
            #expect(message.origin.transport == "http" && message.headers == ["traceparent": "00-1"])
            if message.payload != nil { return try message.payload(as: [User].self) }
            return try message.argument("users")
        }
        try await GatewayServer.run(self.bus) { server in
            let headers = ["traceparent": "00-1", "X-User": "root"]
            let users = "[{\"name\":\"a\"},{\"name\":\"b\"}]"
            for body in [users, "{\"users\":\(users)}"] {
                let answer = try await server.send(.POST, "app/echo", headers: headers, body: body)
                #expect(answer.text == users)
            }
        }
    }

    @Test
    func `a header of the configuration is copied to messages, whatever the case of its name`() async throws {
        try self.bus.register("app://tenant") { message in message.headers["x-tenant"] ?? "none" }
        try self.bus.expose("app://tenant")
        try await GatewayServer.run(self.bus, .with(\.headers, ["X-Tenant"])) { server in
            for name in ["X-Tenant", "x-tenant", "X-TENANT"] {
                let answer = try await server.send(.POST, "app/tenant", headers: [name: "shop"])
                #expect(answer.text == "\"shop\"")
            }
            let connection = try await server.connect()
            let head = "POST /bus/app/tenant HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n"
            try await connection.write(Array("\(head)X-Tenant: a\r\nX-Tenant: b\r\n\r\n".utf8))
            var bytes = connection.bytes.makeAsyncIterator()
            var response = ""
            while !response.contains("\r\n\r\n\""), let part = try await bytes.next() {
                response += String(decoding: part, as: UTF8.self)
            }
            #expect(response.hasSuffix("\"a, b\""))
        }
    }

    @Test
    func `each failure of a call has its HTTP status, and does not reveal internals`() async throws {
        let bus = self.bus
        try bus.register("app://fails/refused") { _ in throw RoutingError.refused("no") }
        try bus.register("app://fails/thrown") { _ in throw Secret() }
        try bus.register("app://fails/late") { _ in try await hang() }
        try bus.register("app://fails/closure") { _ -> @Sendable () -> Void in {} }
        try bus.register("app://fails/inner") { [unowned bus] _ in try await bus.route("app://nowhere") }
        let logged = Journal<String>()
        try await GatewayServer.run(
            bus,
            .with(\.logger, Logger(label: "test") { _ in JournalLogHandler(journal: logged) })
        ) { server in
            for (path, status, code) in [
                ("app/hidden", 404, "noRoute"), ("app/hiddem", 404, "noRoute"),
                ("app/add", 400, "missingParameter"),
                ("app/add?a=x&b=1", 400, "invalidParameter"), ("app/fails/refused", 403, "refused"),
                ("app/fails/thrown", 500, "handlerFailed"), ("app/fails/late", 504, "deadlineExceeded"),
                ("app/fails/closure", 500, "notTransferable"), ("app/fails/inner", 500, "handlerFailed"),
                ("app/user/..", 404, "noRoute"),
            ] {
                let headers = code == "deadlineExceeded" ? ["Waybill-Timeout": "200"] : [:]
                let answer = try await server.send(.POST, path, headers: headers)
                #expect(
                    answer.status == status && answer.text.contains("\"code\":\"\(code)\""),
                    "\(path): \(answer.text)"
                )
                #expect(answer.headers.first(name: "Content-Type") == "application/problem+json")
                #expect(!answer.text.contains("\"title\":\"\""))
                #expect(!answer.text.contains("Secret") && !answer.text.contains("nowhere"))
                #expect(!answer.text.contains("hidden"))
            }
            #expect(logged.entries.contains { $0.contains("Secret") && $0.contains("id=") })
            for accepted in ["application/json", "text/event-stream"] {
                let misspelt = try await server.send(.POST, "app/ad", headers: ["Accept": accepted])
                #expect(misspelt.text.contains(#""suggestions":["app://add"]"#), "\(misspelt.text)")
            }
        }
    }

    @Test(arguments: [
        ("3", 200, "3"), ("16", 200, "16"), ("17", 508, #""code":"hopLimitExceeded""#),
        ("9000000000000000000", 508, #""code":"hopLimitExceeded""#), ("-1", 200, "0"), ("many", 200, "0"),
    ])
    func `a request has the hops that its client states`(
        hops: String,
        status: Int,
        text: String
    ) async throws {
        try self.bus.register("app://hops") { $0.hops }
        try self.bus.expose("app://hops")
        try await GatewayServer.run(self.bus) { server in
            let answer = try await server.send(.POST, "app/hops", headers: ["Waybill-Hops": hops])
            #expect(answer.status == status && answer.text.contains(text), "\(answer.text)")
        }
    }

    @Test
    func `a request that does not reach the bus has its own status`() async throws {
        try await GatewayServer.run(self.bus, .with(\.bodyLimit, 100)) { server in
            #expect(try await server.send(.GET, "app/add?a=1&b=2").status == 405)
            for method in [HTTPMethod.PUT, .TRACE, .OPTIONS, .RAW(value: "QUERY")] {
                let add = try await server.send(method, "app/add?a=1&b=2")
                #expect(add.status == 405 && add.headers.first(name: "Allow") == "POST")
                let user = try await server.send(method, "app/user/1")
                #expect(user.status == 405 && user.headers.first(name: "Allow") == "GET, POST")
            }
            #expect(try await server.send(.GET, "app/hidden").status == 404)
            #expect(try await server.send(.POST, "1app/add").status == 404)
            #expect(try await server.send(.POST, "app/add", body: "{\"a\":").status == 400)
            #expect(
                try await server.send(
                    .POST,
                    "app/add",
                    body: "a=%zz",
                    type: "application/x-www-form-urlencoded"
                ).status == 400
            )
            #expect(try await server.send(.POST, "app/add", body: "a", type: "text/plain").status == 415)
            let marks = String(repeating: "%CC%81%CC%96", count: 8)
            for (name, status) in [("e\(marks.prefix(90))", 400), ("e\(marks)%CC%81", 413)] {
                let body = "\(name)=1"
                let type = "application/x-www-form-urlencoded"
                #expect(try await server.send(.POST, "app/add", body: body, type: type).status == status)
            }
            let large = String(repeating: " ", count: 200)
            #expect(try await server.send(.POST, "app/add", body: large).status == 413)
            #expect(try await server.send(.POST, "app/add", body: "{\"a\":1,\"b\":2}").status == 200)
        }
    }

    @Test
    func `texts that take quadratic time to compare are rejected at once`() async throws {
        let marks = "e" + String(repeating: "\u{301}\u{316}", count: 200_000)
        let short = "e" + String(repeating: "\u{301}\u{316}", count: 5000)
        try await GatewayServer.run(self.bus) { server in
            let type = "application/x-www-form-urlencoded"
            for _ in 0..<10 {
                let form = try await server.send(.POST, "app/add", body: "\(marks)=1", type: type)
                #expect(form.status == 400 && form.text.contains("combining marks"))
                for name in ["Accept", "Content-Type", "Last-Event-ID"] {
                    let answer = try await server.send(.POST, "app/add?a=1&b=2", headers: [name: short])
                    #expect(answer.status == 200)
                }
                let origin = try await server.send(.POST, "app/add?a=1&b=2", headers: ["Origin": short])
                #expect(origin.status == 403)
            }
        }
    }

    @Test
    func `a response to a HEAD request has no body`() async throws {
        try await GatewayServer.run(self.bus) { server in
            let address = StreamAddress.tcp("127.0.0.1", port: server.port)
            let connection = try await StreamConnection.connect(to: address, on: server.bus.eventLoop)
            let head = "HEAD /bus/app/user HTTP/1.1\r\nHost: localhost\r\n"
            try await connection.write(Array("\(head)\r\n\(head)Connection: close\r\n\r\n".utf8))
            var bytes: [UInt8] = []
            while let part = try await connection.read() { bytes += part }
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.split(separator: "HTTP/1.1 405 ").count == 2 && !text.contains("{"), "\(text)")
        }
    }

    @Test
    func `requests for other hosts and from other pages are rejected`() async throws {
        var configuration = WaybillGateway.Configuration.with(\.origins, ["https://Friend.example"])
        configuration.hosts = ["LocalHost", "127.0.0.1", "[::1]"]
        try await GatewayServer.run(self.bus, configuration) { server in
            func get(_ headers: [String: String]) async throws -> GatewayServer.Answer {
                try await server.send(.GET, "app/user/1", headers: headers)
            }
            #expect(try await get([:]).status == 200)
            for host in ["localhost", "LOCALHOST:80", "127.0.0.1", "[::1]:8080", "localhost."] {
                #expect(try await get(["Host": host]).status == 200)
            }
            for host in [
                "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "[::2]",
                "[::1]evil.com", "[::1].evil.com", "[::1]:80@evil", "localhost:18080@evil", "localhost:80a",
                "localhost:80:80", "localhost@evil", "[::1", "[localhost]", "localhost..",
            ] {
                #expect(try await get(["Host": host]).status == 421, "\(host)")
            }
            let forged = ["Host": "localhost:1@evil", "Origin": "http://localhost:1@evil"]
            #expect(try await get(forged).status == 421)
            // A browser sends no origin for an image or a link.
            let image = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"]
            #expect(try await get(image).status == 403)
            var link = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]
            link["Sec-Fetch-Dest"] = "document"
            // A page has opened the link by itself, or in a frame.
            #expect(try await get(link).status == 403)
            link["Sec-Fetch-User"] = "?1"
            #expect(try await get(link).status == 200)
            link["Sec-Fetch-Dest"] = "iframe"
            #expect(try await get(link).status == 403)
            #expect(try await get(["Sec-Fetch-Site": "same-origin"]).status == 200)
            let own = try await get(["Origin": "http://127.0.0.1:\(server.port)"])
            #expect(own.status == 200 && own.headers.first(name: "Access-Control-Allow-Origin") == nil)
            for origin in ["https://evil.example", "null", "http://localhost:1", "127.0.0.1:\(server.port)"] {
                #expect(try await get(["Origin": origin]).status == 403)
            }
            let friend = try await get(["Origin": "https://friend.example"])
            #expect(friend.status == 200)
            #expect(friend.headers.first(name: "Access-Control-Allow-Origin") == "https://friend.example")
            let preflight = try await server.send(
                .OPTIONS,
                "app/add",
                headers: ["Origin": "https://friend.example"]
            )
            #expect(preflight.status == 204)
            #expect(preflight.headers.first(name: "Access-Control-Allow-Methods") == "GET, POST")
            // A generated client sends a token and the headers of a trace.
            for path in ["subscribe", "fingerprint"] {
                let headers = ["Origin": "https://friend.example"]
                let preflight = try await server.send(.OPTIONS, path, headers: headers)
                #expect(preflight.status == 204)
                #expect(preflight.headers.first(name: "Access-Control-Allow-Origin") == headers["Origin"])
                let refused = try await server.send(.POST, path)
                #expect(refused.status == 405 && refused.headers.first(name: "Allow") == "GET")
            }
            let allowed = try #require(preflight.headers.first(name: "Access-Control-Allow-Headers"))
            #expect(Set(allowed.split(separator: ", ")).isSuperset(of: ["Authorization", "traceparent"]))
        }
        try await GatewayServer.run(self.bus) { server in
            let headers = ["Origin": "http://127.0.0.1:\(server.port)"]
            let preflight = try await server.send(.OPTIONS, "app/add", headers: headers)
            #expect(preflight.status == 405)
        }
    }

    @Test
    func `a full mailbox and a bus that has shut down answer with Retry-After`() async throws {
        let gate = Gate()
        let probe = Probe(eventLoop: self.bus.eventLoop)
        try self.bus.configureMailbox(of: probe, MailboxConfiguration(limit: 1, isSerial: true))
        try self.bus.register("app://fails/full", on: probe) { _, _ in
            await gate.wait()
        }
        try await GatewayServer.run(self.bus) { server in
            async let first = server.send(.POST, "app/fails/full")
            await gate.reached()
            async let second = server.send(.POST, "app/fails/full")
            #expect(await eventually { server.bus.statistics.inFlight == 2 })
            let full = try await server.send(.POST, "app/fails/full")
            #expect(full.status == 429 && full.headers.first(name: "Retry-After") == "1")
            gate.open()
            let statuses = [try await first.status, try await second.status]
            #expect(statuses == [204, 204])
            _ = await server.bus.shutDown()
            let answer = try await server.send(.POST, "app/add?a=1&b=2")
            #expect(answer.status == 503 && answer.headers.first(name: "Retry-After") == "1")
        }
    }

    @Test
    func `a client that disconnects cancels its handler`() async throws {
        let started = Tally()
        let cancelled = Tally()
        try self.bus.register("app://fails/slow") { _ in
            started.add()
            do { try await hang() } catch {
                cancelled.add()
                throw error
            }
        }
        try await GatewayServer.run(self.bus) { server in
            for number in 1...20 {
                let request = Task { try await server.send(.POST, "app/fails/slow") }
                #expect(await eventually { started.count == number })
                if number.isMultiple(of: 2) { try await Task.sleep(for: .milliseconds(8)) }
                request.cancel()
                #expect(await eventually { cancelled.count == number })
            }
            #expect(await server.bus.settles())
            // The gateway sends the reply of a call during which it has watched the connection.
            try server.bus.register("app://fails/slower") { _ -> Int in
                try await Task.sleep(for: .milliseconds(30))
                return 7
            }
            for _ in 0..<3 { #expect(try await server.send(.POST, "app/fails/slower").text == "7") }
        }
    }

    @Test
    func `an HTTP call whose loop is busy ends at its deadline, and its connection stays open`() async throws
    {
        let gate = Gate()
        let held = Gate()
        try self.bus.register("app://fails/hold") { _ -> Int in
            held.reach()
            gate.block()
            return 1
        }
        try await GatewayServer.run(self.bus) { server in
            async let holding = server.send(.POST, "app/fails/hold")
            await held.reached()
            async let waiting = server.send(.POST, "app/add?a=1&b=2")
            let late = try await server.send(.POST, "app/add?a=1&b=2", headers: ["Waybill-Timeout": "20"])
            #expect(late.status == 504)
            gate.open()
            let (one, answer) = (try await holding, try await waiting)
            #expect(one.text == "1")
            #expect(answer.text == "3" && answer.headers.first(name: "Connection") != "close")
            #expect(await server.bus.settles())
        }
    }

    @Test
    func `a POST request can name a return URL, which must be exposed`() async throws {
        let kept = Journal<String>()
        try self.bus.register("app://keep") { message in
            kept.add("\(message.address.text) \(try message.payload(as: Int.self))")
        }
        try self.bus.expose("app://keep")
        try await GatewayServer.run(self.bus) { server in
            let path = "app/add?a=1&b=2"
            let answer = try await server.send(.POST, path, headers: ["Waybill-Return": "app://keep?x=1"])
            #expect(answer.text == "3")
            #expect(await kept.comes(to: "app://keep?x=1 3"))
            let read = try await server.send(.GET, "app/user/1", headers: ["Waybill-Return": "app://keep"])
            #expect(read.status == 400)
            let hidden = try await server.send(.POST, path, headers: ["Waybill-Return": "app://hidden"])
            #expect(hidden.text == "3")
            #expect(await eventually { server.bus.statistics.inFlight == 0 })
            #expect(kept.entries.count == 1)
        }
    }

    @Test
    func `a target that contains a fragment is rejected, because it would name a return URL`() async throws {
        try self.bus.expose("app://nothing", for: .all)
        try await GatewayServer.run(self.bus) { server in
            let connection = try await StreamConnection.connect(
                to: .tcp("127.0.0.1", port: server.port),
                on: EventLoop()
            )
            let target = "/bus/app/user/1#app://nothing"
            let head = "GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\nConnection: close\r\n\r\n"
            try await connection.write(Array(head.utf8))
            var answer: [UInt8] = []
            while let bytes = try await connection.read() { answer += bytes }
            let text = String(decoding: answer, as: UTF8.self)
            #expect(text.hasPrefix("HTTP/1.1 400") && text.contains("%23"), "\(text)")
        }
    }

    @Test
    func `the fingerprint changes when a route is exposed`() async throws {
        try await GatewayServer.run(self.bus) { server in
            let first = try await server.send(.GET, "fingerprint")
            #expect(first.status == 200 && first.text.count == 18)
            #expect(try await server.send(.GET, "fingerprint").text == first.text)
            try server.bus.expose("app://hidden")
            #expect(try await server.send(.GET, "fingerprint").text != first.text)
            let origin = ["Origin": "http://evil.example"]
            let foreign = try await server.send(.GET, "fingerprint", headers: origin)
            #expect(foreign.status == 403)
        }
    }

    @Test
    func `HTTP calls reach modules on all loops of a bus`() async throws {
        let loops = [EventLoop(name: "first"), EventLoop(name: "second")]
        let bus = MessageBus(eventLoops: loops, configuration: .quiet)
        for (number, loop) in loops.enumerated() {
            let probe = Probe(eventLoop: loop)
            try bus.register("app://loop/\(number)", on: probe) { _, _ in EventLoop.current === loop }
            try bus.register("app://suspends/\(number)", on: probe) { probe, _ in
                await Task.yield()
                return EventLoop.current === loop
            }
        }
        try bus.expose("app://**", for: .reads)
        try await GatewayServer.run(bus) { server in
            for path in ["loop/0", "loop/1", "suspends/0", "suspends/1"] {
                let answer = try await server.send(.GET, "app/\(path)")
                #expect(answer.text == "true")
            }
            let empty = try await server.send(.GET, "/app//loop/1/")
            #expect(empty.text == "true")
        }
    }

    @Test
    func `concurrent clients each receive their own replies`() async throws {
        try await GatewayServer.run(self.bus) { server in
            try await withThrowingTaskGroup(of: Bool.self) { group in
                for client in 0..<8 {
                    group.addTask {
                        for number in 0..<50 {
                            let answer = try await server.send(.POST, "app/add?a=\(client)&b=\(number)")
                            if answer.text != "\(client + number)" { return false }
                        }
                        return true
                    }
                }
                for try await isRight in group { #expect(isRight) }
            }
            #expect(server.bus.statistics.inFlight == 0 && server.bus.statistics.replied == 400)
        }
    }

    @Test
    func `a call counts until its handler has returned, even after its response`() async throws {
        let (gate, begun) = (Gate(), Tally())
        try self.bus.register("app://stubborn") { _ in
            begun.add()
            // The gate ignores the cancellation of the task.
            await gate.wait()
        }
        try self.bus.expose("app://stubborn")
        try await GatewayServer.run(self.bus, .with(\.callLimit, 2)) { server in
            let hasty = ["Waybill-Timeout": "20"]
            // On a busy machine, the time of a call can pass before its handler begins.
            while begun.count < 2 {
                #expect(try await server.send(.POST, "app/stubborn", headers: hasty).status == 504)
            }
            for headers in [hasty, ["Accept": "text/event-stream"]] {
                let refused = try await server.send(.POST, "app/stubborn", headers: headers)
                #expect(refused.status == 429 && refused.text.contains("too many running calls"))
                #expect(refused.headers["Retry-After"] == ["1"])
            }
            #expect(begun.count == 2)
            gate.open()
            let isFree = try await eventually { try await server.send(.GET, "app/user/1").status == 200 }
            #expect(isFree)
        }
    }

    @Test
    func `a message to a return URL counts as a call of its client`() async throws {
        let (gate, begun) = (Gate(), Tally())
        try self.bus.register("app://receipt") { _ in
            begun.add()
            await gate.wait()
        }
        try self.bus.expose("app://receipt", for: .all)
        try await GatewayServer.run(self.bus, .with(\.callLimit, 2)) { server in
            let headers = ["Waybill-Return": "app://receipt"]
            for _ in 0..<2 {
                #expect(try await server.send(.POST, "app/nothing", headers: headers).status == 204)
            }
            #expect(await eventually { begun.count == 2 })
            #expect(try await server.send(.POST, "app/nothing").status == 429)
            gate.open()
            let isFree = try await eventually { try await server.send(.POST, "app/nothing").status == 204 }
            #expect(isFree)
        }
    }

    @Test
    func `text with many combining marks in a row is rejected in a form, an event and a header`()
        async throws
    {
        let marks = String(repeating: "%CC%81", count: 31)
        var configuration = WaybillGateway.Configuration.quiet
        configuration.headers = ["baggage"]
        try await GatewayServer.run(self.bus, configuration) { server in
            let form = "application/x-www-form-urlencoded"
            let event = ["ce-specversion": "1.0", "ce-id": "1", "ce-source": "/c", "ce-type": "t"]
            for answer in [
                try await server.send(.POST, "app/nothing", body: "name=a\(marks)", type: form),
                try await server.send(.POST, "app/nothing", body: "a\(marks)=name", type: form),
                try await server.send(.POST, "app/nothing", headers: event.merging(["ce-x": marks]) { $1 }),
                try await server.send(
                    .POST,
                    "app/nothing",
                    headers: event,
                    body: marks.removingPercentEncoding ?? "",
                    type: "text/plain"
                ),
            ] { #expect(answer.status == 400, "\(answer.text)") }
        }
    }

    @Test
    func `a body that does not arrive in time ends, and gives its place back`() async throws {
        var configuration = WaybillGateway.Configuration.quiet
        (configuration.timeout, configuration.callLimit) = (.seconds(2), 1)
        try await GatewayServer.run(self.bus, configuration) { server in
            // The gateway refuses one request for lack of a place, and closes the other in the end.
            let head = "POST /bus/app/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"
            let bytes = Array(head.utf8)
            async let first = server.response(to: bytes)
            async let second = server.response(to: bytes)
            let responses = await [first, second].sorted()
            #expect(responses.map { $0.prefix(12) } == ["HTTP/1.1 408", "HTTP/1.1 429"])
            #expect(responses[0].lowercased().contains("connection: close"))
            let isFree = try await eventually { try await server.send(.POST, "app/nothing").status == 204 }
            #expect(isFree)
        }
    }

    @Test
    func `a broken body is the client's error and is not logged`() async throws {
        let logged = Journal<String>()
        let logger = Logger(label: "test") { _ in JournalLogHandler(journal: logged) }
        try await GatewayServer.run(self.bus, .with(\.logger, logger)) { server in
            let connection = try await server.connect()
            let head = "POST /bus/app/nothing HTTP/1.1\r\nHost: localhost\r\n"
            try await connection.write(Array("\(head)Transfer-Encoding: chunked\r\n\r\nzz\r\n".utf8))
            var bytes = connection.bytes.makeAsyncIterator()
            let response = String(decoding: try await bytes.next() ?? [], as: UTF8.self)
            #expect(response.hasPrefix("HTTP/1.1 400 "))
            #expect(logged.entries == [])
        }
    }

    @Test
    func `a body without a length counts while it arrives`() async throws {
        var configuration = WaybillGateway.Configuration.quiet
        (configuration.callBytes, configuration.bodyLimit) = (400_000, 200_000)
        try await GatewayServer.run(self.bus, configuration) { server in
            let head = "POST /bus/app/nothing HTTP/1.1\r\nHost: localhost\r\n"
            // The length of the chunk is a hexadecimal number, and its end never arrives.
            let chunk = "2af80\r\n\(String(repeating: "a", count: 170_000))"
            let bytes = Array("\(head)Transfer-Encoding: chunked\r\n\r\n\(chunk)".utf8)
            // The limit has room for two of the bodies. The third one to arrive is refused.
            let response = await withTaskGroup(of: String.self) { requests in
                for _ in 0..<3 { requests.addTask { await server.response(to: bytes) } }
                defer { requests.cancelAll() }
                return await requests.next()
            }
            #expect(response?.hasPrefix("HTTP/1.1 429 ") == true)
        }
    }

    @Test
    func `the bodies of running calls have a limit in bytes, and many parameters count more`() async throws {
        let gate = Gate()
        try self.bus.register("app://wait") { _ in await gate.wait() }
        try self.bus.expose("app://wait")
        var configuration = WaybillGateway.Configuration.quiet
        (configuration.callBytes, configuration.bodyLimit) = (10_000, 5_000)
        try await GatewayServer.run(self.bus, configuration) { server in
            let members = (0..<200).map { "\"\($0)\":1" }.joined(separator: ",")
            let refused = try await server.send(.POST, "app/wait", body: "{\(members)}")
            #expect(refused.status == 429 && refused.text.contains("too much memory"))
            let body = "{\"text\":\"\(String(repeating: "x", count: 4_900))\"}"
            async let first = server.send(.POST, "app/wait", body: body)
            async let second = server.send(.POST, "app/wait", body: body)
            #expect(await eventually { self.bus.statistics.inFlight == 2 })
            #expect(try await server.send(.POST, "app/wait", body: body).status == 429)
            gate.open()
            #expect(try await (first.status, second.status) == (204, 204))
            #expect(try await server.send(.POST, "app/wait", body: body).status == 204)
            // Each item of a form counts, also if several items have the same name.
            let form = String(repeating: "a&", count: 200)
            let type = "application/x-www-form-urlencoded"
            #expect(try await server.send(.POST, "app/wait", body: form, type: type).status == 429)
            // Each attribute of an event counts.
            let attributes = (0..<200).map { ",\"a\($0)\":1" }.joined()
            let event = "{\"specversion\":\"1.0\",\"id\":\"1\",\"source\":\"a\",\"type\":\"t\"\(attributes)}"
            let answer = try await server.send(
                .POST,
                "app/wait",
                body: event,
                type: "application/cloudevents+json"
            )
            #expect(answer.status == 429)
        }
    }

    @Test
    func `the greatest integer is a limit for bodies`() async throws {
        try await GatewayServer.run(self.bus, .with(\.bodyLimit, .max)) { server in
            #expect(try await server.send(.POST, "app/nothing", body: "{}").status == 204)
            // Two requests claim bodies whose lengths have a sum above the greatest integer.
            let host = "POST /bus/app/nothing HTTP/1.1\r\nHost: localhost\r\n"
            let head = "\(host)Content-Length: \(Int.max / 2 + 1)\r\n\r\n"
            let connections = [try await server.connect(), try await server.connect()]
            for connection in connections { try await connection.write(Array(head.utf8)) }
            #expect(try await server.send(.POST, "app/nothing", body: "{}").status == 204)
            for connection in connections { connection.close() }
        }
    }

    @Test
    func `a body without a length is rejected in HTTP/2, whose end of a connection looks like its end`()
        async throws
    {
        try await GatewayServer.run(self.bus, .with(\.isHTTP2, true)) { server in
            let answer = try await server.send(.POST, "app/nothing", body: "{}", isChunked: true)
            #expect(answer.status == 411 && answer.text.contains("Content-Length"))
            #expect(try await server.send(.POST, "app/nothing", body: "{}").status == 204)
            #expect(try await server.send(.POST, "app/nothing").status == 204)
        }
    }

    @Test
    func `calls work behind a middleware that replaces the body, if connections are not watched`()
        async throws
    {
        try self.bus.register("app://slow") { message async throws -> String in
            try await Task.sleep(for: .milliseconds(100))
            return try message.parameters.require("text")
        }
        try self.bus.expose("app://slow")
        try await GatewayServer.run(self.bus, .with(\.watchesConnections, false)) { router in
            router.add(middleware: ReplacedBody())
        } _: { server in
            let answer = try await server.send(.POST, "app/slow", body: #"{"text":"a"}"#)
            #expect(answer.status == 200 && answer.text == #""a""#)
            let events = try await server.events(.POST, "app/slow", body: #"{"text":"b"}"#)
            #expect(try await events.next()?.data == #""b""#)
        }
    }
}
#endif
