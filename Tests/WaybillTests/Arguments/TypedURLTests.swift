import FoundationEssentials
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite
struct TypedURLTests {
    @Test
    func `a typed URL encodes values into the pattern and the query`() throws {
        let none: Int? = nil
        let url = TypedURL<Void>("app://user/:uid/<path:rest>")
            .with("uid", 7)
            .with("rest", "a b/c")
            .with("name", "Ä & Ö")
            .with("id", [1, 2])
            .with("none", none)
            .with("side", Side.left)
            .with("on", Date(timeIntervalSinceReferenceDate: 0))
        #expect(
            try url.text()
                == "app://user/7/a%20b/c?name=%C3%84%20%26%20%C3%96&id=1&id=2&side=left&on=2001-01-01T00%3A00%3A00Z"
        )
        #expect(url.parameters.isEmpty)
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan])
    func `an infinite date has a text that no handler reads as a date`(seconds: Double) throws {
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        let url = try TypedURL<Void>("app://on").with("date", date).text()
        #expect(url == "app://on?date=\(seconds)")
        #expect(Date(urlParameter: "\(seconds)") == nil)
    }

    @Test(arguments: [
        "2026-11-21T08:30:00Zxyz", "2026-11-21T08:30:00Z2027-01-01", "2026.5-11-21T08:30:00Z",
        "2026-11-21T08:30:00.Z", "2026-11-21T08:30:00", "2026-11-21", "",
        "2026-02-30T00:00:00Z", "1001-02-29T00:00:00Z", "2026-11-21T08:30:60Z", "2026-11-21T24:00:00Z",
    ])
    func `a text that is more or less than a point in time is no date`(text: String) {
        #expect(Date(urlParameter: text) == nil)
    }

    @Test(arguments: [
        "2026-11-21T08:30:00.25Z", "2026-11-21T09:30:00.25+01:00", "2026-11-21T09:30:00.250+0100",
    ])
    func `a date may have a fraction and a time zone`(text: String) throws {
        let whole = try #require(Date(urlParameter: "2026-11-21T08:30:00Z"))
        #expect(Date(urlParameter: text) == whole.addingTimeInterval(0.25))
    }

    @Test(arguments: [
        ("0001-01-01T00:00:00Z", -62_135_596_800.0), ("1000-02-28T23:59:59.500Z", -30_605_126_400.5),
        ("1500-03-01T00:00:00Z", -14_826_672_000), ("1582-10-14T00:00:00Z", -12_219_379_200),
        ("1582-12-31T23:59:59Z", -12_212_553_601), ("1583-01-01T00:00:00Z", -12_212_553_600),
        ("0000-02-29T00:00:00Z", -62_162_121_600), ("9999-12-31T23:59:59Z", 253_402_300_799),
    ])
    func `a date has the Gregorian calendar in each year, as in ISO 8601`(text: String, seconds: Double) {
        #expect(Date(urlParameter: text)?.timeIntervalSince1970 == seconds)
        #expect(Date(timeIntervalSince1970: seconds).urlParameter == text)
    }

    private struct OrderID: RawRepresentable, Hashable, Sendable {
        let rawValue: UUID
    }

    @Test func `a typed URL contains an ID whose raw value is a UUID, and a handler reads it`() async throws {
        let bus = MessageBus()
        try bus.register("app://order/:id") { message in
            let id: OrderID = try message.argument("id")
            return id.rawValue
        }
        let id = OrderID(rawValue: UUID())
        #expect(try await bus.route(TypedURL<UUID>("app://order/:id").with("id", id)) == id.rawValue)
    }

    @Test func `a value without a text cannot be in the path of a typed URL`() throws {
        let url = TypedURL<Void>("app://convert/:amount").with("amount", Decimal(9.5))
        let error = #expect(throws: RoutingError.self) { try url.text() }
        #expect(error?.code == .invalidParameter)
        #expect(error?.message.contains("no text in a URL") == true)
    }

    private static let texts: [LongText] = ["a", "ab cd", "Ä", "\(String(repeating: "x", count: 300))"]

    @Test(arguments: texts)
    func `a typed URL without placeholders appends its values to the query, however long they are`(
        value: LongText
    ) throws {
        let text = value.text
        let url = TypedURL<Void>("app://user/detail").with("n m", Int.min).with("text", text).with("on", true)
        let encoded = Address.encode(text)
        #expect(try url.text() == "app://user/detail?n%20m=\(Int.min)&text=\(encoded)&on=true")
        #expect(try TypedURL<Void>("app://user/detail").text() == "app://user/detail")
    }

    @Test(arguments: [
        ("app://user/detail?name=x", "app://user/detail?name=x&uid=3", "app://user/detail?name=x&uid=3&b=y"),
        ("app://user/detail#a/b?c", "app://user/detail?uid=3#a/b?c", "app://user/detail?uid=3&b=y#a/b?c"),
        ("app://user/detail?x#a", "app://user/detail?x&uid=3#a", "app://user/detail?x&uid=3&b=y#a"),
    ])
    func `values are appended to the query that a typed URL has, before its fragment`(
        url: String,
        one: String,
        two: String
    )
        async throws
    {
        let typed = TypedURL<Int>(url: url).with("uid", 3)
        #expect(try typed.text() == one && typed.with("b", "y").text() == two)
        let bus = MessageBus()
        try bus.register("app://user/detail") { try $0.parameters.require("uid", as: Int.self) }
        #expect(try await bus.route(typed) == 3)
    }

    @Test
    func `adding a value to a typed URL does not change the original`() throws {
        let base = TypedURL<Void>("app://user/detail").with("a", 1)
        let more = base.with("b", "x")
        #expect(try base.text() == "app://user/detail?a=1")
        #expect(try more.text() == "app://user/detail?a=1&b=x")
    }

    @Test
    func `a typed URL without a scheme gets the default scheme of the bus`() async throws {
        let bus = MessageBus(configuration: .init(defaultScheme: "shop"))
        try bus.register("/user/:id") { try $0.parameters.require("id", as: Int.self) }
        for pattern in ["/user/:id", "user/:id"] {
            let url = TypedURL<Int>(pattern).with("id", 7).with("q", "é")
            #expect(try url.text() == "/user/7?q=%C3%A9")
            #expect(try await bus.route(url) == 7)
        }
        #expect(try TypedURL<Int>("app://user/:id").with("id", "é").text() == "app://user/%C3%A9")
    }

    @Test(arguments: ["app://user/:id", "app://user/<int:id>", "app://user/list"])
    func `a typed URL rejects a value with an empty name`(pattern: String) {
        for url in [
            TypedURL<Void>(pattern).with("id", 7).with("", "lost"),
            TypedURL(pattern).with("", 1).with("id", 7),
        ] {
            let error = #expect(throws: RoutingError.self) { try url.text() }
            #expect(error?.code == .invalidParameter)
        }
    }

    @Test
    func `values without a text form are passed with the call, and typed at the receiver`() async throws {
        let bus = MessageBus()
        try bus.register("app://pay/start") { message -> String in
            let done: @Sendable (Int) -> String = try message.argument("done")
            return done(try message.argument("sum"))
        }
        let done: @Sendable (Int) -> String = { "paid \($0)" }
        let url = TypedURL<String>("app://pay/start").with("sum", 42).with("done", done)
        #expect(try await bus.route(url) == "paid 42")
    }

    @Test(arguments: [1, 2], [false, true])
    func `a number that is passed with the URL can be read as text`(
        loops: Int,
        isIntercepted: Bool
    ) async throws {
        let loops = (0..<loops).map { EventLoop(name: "loop \($0)") }
        let bus = MessageBus(eventLoops: loops)
        if isIntercepted { bus.use(Doing { .pass($0) }) }
        let user = UserActor(eventLoop: loops[loops.count - 1])
        try bus.register("app://user/seen", on: user) { _, message -> [String] in
            [message.address.text, message.parameters["uid"] ?? "", "\(message.parameters.query)"]
        }
        try bus.register("app://user/later") { message -> String in
            await Task.yield()
            return message.address.text
        }
        try bus.register("app://user/broken", on: user) { _, message -> Int in
            throw NumberedFailure(uid: try message.argument("uid"))
        }
        try bus.register("app://user/on", on: user) { _, message -> String in "on" }
        try bus.register("app://outer") { [bus] _ -> [String] in
            try await bus.route(TypedURL<[String]>(url: "app://user/seen").with("uid", 8))
        }
        func check() async throws {
            let seen = TypedURL<[String]>(url: "app://user/seen").with("uid", -7)
            #expect(try await bus.route(seen) == ["app://user/seen?uid=-7", "-7", #"["uid": "-7"]"#])
            #expect(try await bus.route("app://outer", as: [String].self)[0] == "app://user/seen?uid=8")
            let later = TypedURL<String>(url: "app://user/later").with("uid", 1)
            #expect(try await bus.route(later) == "app://user/later?uid=1")
            let broken = await #expect(throws: RoutingError.self) {
                let _: Int = try await bus.route(TypedURL<Int>(url: "app://user/broken").with("uid", 2))
            }
            #expect(broken?.code == .handlerFailed && broken?.url == "app://user/broken?uid=2")
            #expect((broken?.cause as? NumberedFailure)?.uid == 2)
            let other = await #expect(throws: RoutingError.self) {
                let _: Int = try await bus.route(TypedURL<Int>(url: "app://user/on").with("uid", 3))
            }
            #expect(other?.code == .typeMismatch && other?.url == "app://user/on?uid=3")
            let none = await #expect(throws: RoutingError.self) {
                let _: Int = try await bus.route(TypedURL<Int>(url: "app://user/sen").with("uid", 4))
            }
            #expect(none?.code == .noRoute && none?.url == "app://user/sen?uid=4")
            let reply = try await bus.route(TypedURL<Reply>(url: "app://user/on").with("uid", 5))
            #expect(try reply.value(as: String.self) == "on")
            try await bus.route(TypedURL<Void>(url: "app://user/on").with("uid", 6))
        }
        try await check()
        for loop in loops { try await UserActor(eventLoop: loop).run(check) }
        let books = bus.statistics
        #expect(
            books.sent == books.replied + books.failed + books.deadLettered && books.failed == 1 + loops.count
        )
    }

    @Test
    func `a value that does not fit its pattern is an error, and a dead letter when it is sent`()
        async throws
    {
        let bus = MessageBus()
        let letters = bus.deadLetters
        let url = TypedURL<Void>("app://user/:uid").with("uid", "")
        let error = await #expect(throws: RoutingError.self) { try await bus.route(url) }
        #expect(error?.code == .invalidParameter)
        bus.send(url)
        for await letter in letters {
            #expect(letter.error.code == .invalidParameter)
            break
        }
        #expect(bus.statistics.deadLettered == 1)
    }
}

private struct NumberedFailure: Error { let uid: Int }

private actor UserActor: LoopBound {
    let eventLoop: EventLoop
    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
    func run(_ body: () async throws -> Void) async throws { try await body() }
}

private enum Side: String { case left, right }
