import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// Each error code, and its message.
@Suite(.timeLimit(.minutes(1)))
struct RoutingErrorTests {
    let bus = MessageBus(configuration: .quiet)
    private struct Broken: Error {}

    private func errors() async throws -> [RoutingError?] {
        let bus = self.bus
        try bus.register("app://user/detail/:uid") { try $0.parameters.require("uid", as: Int.self) }
        try bus.register("app://needs") { try $0.parameters.require("what", as: Int.self) }
        try bus.register("app://broken") { _ in throw Broken() }
        try bus.register("app://no") { _ in throw RoutingError(.refused, message: "not today") }
        return [
            await failure { try await bus.route("") },
            await failure { try bus.register("") { _ in } },
            await failure { try bus.register("app://needs") { _ in } },
            await failure { try await bus.route("app://user/detial/1") },
            await failure { try await bus.route("app://no") },
            await failure { try await bus.route("app://needs") },
            await failure { try await bus.route("app://needs?what=x") },
            await failure { try await bus.route("app://needs?what=1", as: String.self) },
            await failure { try await bus.route("app://broken") },
            await failure { try await bus.route("app://broken", deadline: .now - .seconds(1)) },
        ]
    }

    @Test func `the root cause is the error of the message that failed first`() async throws {
        let bus = self.bus
        try bus.register("app://broken") { _ in throw Broken() }
        for (from, to) in [("one", "two"), ("two", "three"), ("three", "nowhere"), ("last", "broken")] {
            try bus.register("app://\(from)") { [unowned bus] _ in
                try await bus.route("app://\(to)", as: Int.self)
            }
        }
        let error = await failure { try await bus.route("app://one") }
        #expect(error?.code == .handlerFailed && error?.url == "app://one")
        #expect(error?.rootCause.code == .noRoute && error?.rootCause.url == "app://nowhere")

        let broken = await failure { try await bus.route("app://last") }
        #expect(broken?.rootCause.code == .handlerFailed && broken?.rootCause.url == "app://broken")
        #expect(broken?.rootCause.cause is Broken)

        let plain = await failure { try await bus.route("app://nowhere") }
        #expect(plain?.rootCause.code == .noRoute && plain?.rootCause.url == plain?.url)
    }

    @Test func `an error prints one line with the root cause, and its chain a line for each cause`()
        async throws
    {
        let bus = self.bus
        for (from, to) in [("ping", "pong"), ("pong", "ping")] {
            try bus.register("app://\(from)") { [unowned bus] _ in
                try await bus.route("app://\(to)", as: Int.self)
            }
        }
        let error = try #require(await failure { try await bus.route("app://ping") })
        #expect(
            "\(error)" == """
                handlerFailed app://ping (app://ping): the handler threw an error \
                (root cause: hopLimitExceeded \(error.rootCause.url): \(error.rootCause.message))
                """
        )
        let lines = "\(error.chain)".split(separator: "\n")
        #expect(lines.count == error.chain.errors.count && lines.count > 10)
        #expect(lines[0] == "handlerFailed app://ping (app://ping): the handler threw an error")
        #expect(lines[1] == "  caused by handlerFailed app://pong (app://pong): the handler threw an error")
        #expect(lines.last?.hasPrefix("  caused by hopLimitExceeded app://p") == true)
    }

    @Test func `a cause that is not a routing error ends the line and the chain`() async throws {
        let bus = self.bus
        try bus.register("app://broken") { _ in throw Broken() }
        try bus.register("app://last") { [unowned bus] _ in try await bus.route("app://broken", as: Int.self)
        }
        let error = try #require(await failure { try await bus.route("app://last") })
        let broken = "handlerFailed app://broken (app://broken): the handler threw an error"
        #expect("\(error)".hasSuffix("(cause: \(broken) (cause: Broken()))"))
        #expect("\(error.chain)".hasSuffix("caused by \(broken)\n  caused by Broken()"))
    }

    @Test func `an error of a handler's own call is the cause, also for its own URL`()
        async throws
    {
        let bus = self.bus
        try bus.register("app://depth") { [unowned bus] message -> Int in
            let depth: Int = try message.parameters.require("n")
            return try await bus.route("app://depth", parameters: ["n": depth - 1], as: Int.self) + 1
        }
        let deep = await failure { try await bus.route("app://depth", parameters: ["n": 3]) }
        #expect(deep?.code == .handlerFailed && deep?.rootCause.code == .hopLimitExceeded)
        // Each handler has failed, and the last message has reached no handler.
        #expect(bus.statistics.failed == 17 && bus.statistics.deadLettered == 1)

        try bus.register("app://late") { [unowned bus] message -> Int in
            guard message.parameters["again"] == nil else {
                return try await bus.route("app://late", timeout: .zero)
            }
            try await Task.sleep(for: .seconds(60))
            return 0
        }
        let late = await failure { try await bus.route("app://late", parameters: ["again": true]) }
        #expect(late?.code == .handlerFailed && late?.rootCause.code == .deadlineExceeded)

        try bus.register("app://missing") { [unowned bus] message -> Int in
            guard message.parameters["again"] != nil else { return try message.parameters.require("what") }
            return try await bus.route("app://missing", as: Int.self)
        }
        let own = await failure { try await bus.route("app://missing") }
        #expect(own?.code == .missingParameter)
        let other = await failure { try await bus.route("app://missing", parameters: ["again": true]) }
        #expect(other?.code == .handlerFailed && other?.rootCause.code == .missingParameter)
    }

    @Test func `a handler that ran never fails with noHandler`() async throws {
        let bus = self.bus
        try bus.register("app://buy") { [unowned bus] _ -> Int in
            _ = try bus.service((any Wanting).self)
            return 1
        }
        let error = await failure { try await bus.route("app://buy") }
        #expect(error?.code == .handlerFailed && error?.url == "app://buy")
        #expect(error?.rootCause.code == .noHandler && error?.rootCause.url == "Wanting")
        #expect(bus.statistics.failed == 1 && bus.statistics.deadLettered == 0)
    }

    @Test func `the error of a value names its type as it is written in Swift`() async throws {
        let bus = self.bus
        try bus.register("app://text") { _ in "secret" }
        try bus.register("app://none") { _ in String?.none }
        try bus.register("app://list") { _ in [[1: String?.none]] }
        try bus.register("app://nothing") { _ in }
        try bus.register("app://function") { _ -> @Sendable (Int) -> String in { "\($0)" } }
        try bus.register("app://existential") { _ -> (any Error)? in nil }
        func sentence<Value: Sendable>(_ url: String, _ type: Value.Type) async -> String? {
            let reply = await failure { try await bus.route(url).value(as: type) }
            let direct = await failure { try await bus.route(url, as: type) }
            #expect(reply?.message == direct?.message && direct?.code == .typeMismatch)
            return direct?.message
        }
        #expect(await sentence("app://text", Int.self) == "expected Int, but the handler returned String")
        #expect(
            await sentence("app://none", Int.self) == "expected Int, but the handler returned nil (String?)"
        )
        let list = await sentence("app://list", [Int?].self)
        #expect(list == "expected [Int?], but the handler returned [[Int: String?]]")
        #expect(await sentence("app://nothing", Int.self) == "expected Int, but the handler returned Void")
        let function = await sentence("app://function", Int.self)
        #expect(function == "expected Int, but the handler returned @Sendable (Int) -> String")
        let existential = await sentence("app://existential", Int.self)
        #expect(existential?.contains("but the handler returned nil (") == true)
    }

    @Test func `the type error of a progress reply, an answer or a payload says which of them it is`()
        async throws
    {
        let answers = Journal<String>()
        try self.bus.register("app://asks") { (message: Message) async in
            do throws(RoutingError) {
                _ = try await message.reply(with: 1, expecting: Int.self)
            } catch {
                answers.add(error.message)
            }
        }
        try await self.bus.route("app://asks") { (_: Int) in "text" }
        #expect(answers.entries == ["expected Int, but the caller answered String"])
        let progress = await failure {
            for try await reply in self.bus.replies(to: "app://asks") { _ = try reply.value(as: String.self) }
        }
        #expect(progress?.message == "expected String, but the progress reply is Int")
    }

    @Test func `each failure has its code, its URL and one line`() async throws {
        let errors = try await self.errors()
        #expect(
            errors.map { $0?.code } == [
                .invalidURL, .invalidPattern, .conflict, .noRoute, .refused, .missingParameter,
                .invalidParameter,
                .typeMismatch, .handlerFailed, .deadlineExceeded,
            ]
        )
        for case let error? in errors {
            #expect(!error.message.isEmpty && !"\(error)".contains("\n"))
            #expect("\(error)".hasPrefix("\(error.code)") && "\(error)".contains(error.message))
            #expect("\(error)".contains(error.url))
        }
    }

    /// Handlers in all places, with and without a middleware.
    @Test(arguments: AddingHandler.allCases, [false, true])
    func `a failure contains the route and the module`(kind: AddingHandler, isSurrounded: Bool) async throws {
        let bus = self.bus
        try kind.register(on: bus, Journal(), at: "app://add/:n")
        if isSurrounded { bus.use(Doing { .pass($0) }) }
        let letters = bus.deadLetters(limit: 16)
        for deadline in [nil, ContinuousClock.now + .seconds(60)] {
            let error = await failure { try await bus.route("app://add/x", deadline: deadline) }
            #expect(error?.code == .invalidParameter && error?.route == "app://add/:n")
            #expect(error?.module == (kind == .far || kind == .farLater ? "Probe" : nil))
            #expect("\(error.map { "\($0)" } ?? "")".contains("app://add/x (app://add/:n"))
        }
        bus.send("app://add/y")
        for await letter in letters {
            #expect(letter.error.route == "app://add/:n" && letter.pattern == letter.error.route)
            break
        }
        let typed = await failure { try await bus.route("app://add/1", as: String.self) }
        #expect(typed?.code == .typeMismatch && typed?.route == "app://add/:n")
        let nobody = await failure { try await bus.route("app://sub/1") }
        #expect(nobody?.code == .noRoute && nobody?.route == nil)
    }

    @Test func `the error of a mistyped URL has a suggestion`() async throws {
        try self.bus.register("app://user/detail") { _ in }
        let error = await failure { try await self.bus.route("app://usr/detail?x=1") }
        #expect(error?.message.contains("app://user/detail") == true)
        #expect(error?.url == "app://usr/detail?x=1")
    }

    @Test func `a handler's failure has its cause`() async throws {
        try self.bus.register("app://broken") { _ in throw Broken() }
        let error = await failure { try await self.bus.route("app://broken") }
        #expect(error?.cause is Broken && "\(error.map { "\($0)" } ?? "")".contains("(cause: Broken())"))
    }

    @Test(arguments: ["app://nobody/home", "app://inner?n=x", "app://far"])
    func `an error about another message is the handler's failure, with the error as its cause`(
        url: String
    ) async throws {
        let bus = self.bus
        let far = Probe(eventLoop: EventLoop())
        try bus.register("app://inner") { try $0.parameters.require("n", as: Int.self) }
        try bus.register("app://far", on: far) { _, _ in throw Broken() }
        try bus.register("app://outer") { [weak bus] message in
            try await bus?.route(message.parameters.require("url"), as: Void.self)
        }
        let inner = await failure { try await bus.route(url) }
        let outer = await failure { try await bus.route("app://outer", parameters: ["url": url]) }
        #expect(outer?.code == .handlerFailed && outer?.url == "app://outer")
        let cause = outer?.cause as? RoutingError
        #expect(cause?.code == inner?.code && cause?.url == url && inner != nil)
    }

    @Test func `an error about the message itself passes unchanged`() async throws {
        try self.bus.register("app://a") { message in
            throw RoutingError(.unreachable, url: "\(message.address)", message: "gone fishing")
        }
        try self.bus.register("app://b") { _ in throw RoutingError(.notTransferable, message: "too heavy") }
        #expect(await failure { try await self.bus.route("app://a?b=1") }?.code == .unreachable)
        #expect(await failure { try await self.bus.route("app://b") }?.code == .notTransferable)
    }

    @Test func `an error has its route when it ends while the caller processes a reply`() async throws {
        let registration = try self.bus.register("app://a/:n") { message in
            _ = await message.reply(with: 1)
            try await Task.sleep(for: .seconds(60))
        }
        let removed = await failure {
            let _: Void = try await self.bus.route("app://a/1") { (_: Int) in registration.cancel() }
        }
        #expect(removed?.code == .noHandler && removed?.route == "app://a/:n")
    }

    @Test(arguments: [false, true])
    func `the error of a full mailbox has the route and the module`(isSerial: Bool) async throws {
        let module = Probe(eventLoop: EventLoop())
        let bus = self.bus
        let (begun, held) = (Gate(), Gate())
        try bus.configureMailbox(of: module, .init(limit: 1, isSerial: isSerial))
        try bus.register("app://hold", on: module) { _, _ in
            begun.open()
            if isSerial { await held.wait() } else { held.block() }
        }
        try bus.register("app://a/:n", on: module) { _, _ in }
        let letters = bus.deadLetters
        bus.send("app://hold")
        await begun.wait()
        bus.send("app://a/1")
        bus.send("app://a/2")
        let refused = await failure { try await bus.enqueue("app://a/3") }
        #expect(refused?.code == .mailboxFull)
        #expect(refused?.route == "app://a/:n" && refused?.module == "Probe")
        let unheard = await failure { try await bus.route("app://a/4", deadline: .now + .seconds(60)) }
        #expect(unheard?.code == .mailboxFull && unheard?.route == "app://a/:n")
        held.open()
        #expect(await bus.settles())
        var seen: [String?] = []
        for await letter in letters {
            #expect(letter.error.route == "app://a/:n")
            seen.append(letter.pattern)
            if seen.count == 3 { break }
        }
        #expect(seen == Array(repeating: "app://a/:n", count: 3))
    }

    @Test func `the error of an answer of another type has the route`() async throws {
        try self.bus.register("app://a/:n") { message -> Int in
            await message.reply(with: 1)
            return 1
        }
        let error = await failure {
            let _: String = try await self.bus.route("app://a/1") { (_: Int) in }
        }
        #expect(error?.code == .typeMismatch && error?.route == "app://a/:n")
    }
}

/// A service that no module provides.
private protocol Wanting: Sendable {}
