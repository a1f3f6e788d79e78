import Foundation
import Logging
import Testing
import Waybill
import WaybillCompatibility
import WaybillEventLoop

struct User: Sendable, Equatable {
    var uid: Int
    var name: String
}

struct Receipt: Sendable, Equatable {
    var total: Int
}

/// Collects the values of a handler, so that a test can await them.
actor Inbox<Value: Sendable> {
    private var values: [Value] = []
    private var waiting: [CheckedContinuation<Value, Never>] = []

    func put(_ value: Value) {
        if self.waiting.isEmpty {
            self.values.append(value)
        } else {
            self.waiting.removeFirst().resume(returning: value)
        }
    }

    func next() async -> Value {
        if !self.values.isEmpty { return self.values.removeFirst() }
        return await withCheckedContinuation { self.waiting.append($0) }
    }
}

/// An actor with handlers that are written without macros.
actor Accounts: LoopBound {
    let eventLoop: EventLoop
    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }
    func detail(uid: Int) -> User { User(uid: uid, name: "Lili") }
}

/// Registering, routing, publishing and shutting down, as the README and the articles print it.
struct DeliveryTests {
    private let bus = MessageBus()

    private func code(_ body: () async throws -> Void) async -> RoutingError.Code? {
        do { try await body() } catch { return (error as? RoutingError)?.code }
        return nil
    }

    @Test func `a bus creates a loop, or uses the given loops`() async {
        let loop = EventLoop()
        var configuration = MessageBus.Configuration(defaultScheme: "shop", mailboxLimit: 8, hopLimit: 4)
        configuration.hopLimit = 5
        configuration.mailboxLimit = 16
        configuration.conventions = .waybill
        configuration.limits = .default
        configuration.logger = Logger(label: "consumer")
        #expect(configuration.defaultScheme == "shop")
        let given = MessageBus(eventLoop: loop, configuration: configuration)
        #expect(given.eventLoop === loop)
        let several = MessageBus(eventLoops: [loop, EventLoop()])
        let group = EventLoopGroup(count: 2)
        let grouped = MessageBus(eventLoops: group)
        #expect(group.eventLoops.contains { $0 === grouped.eventLoop })
        await grouped.shutDown()
        await group.shutDown()
        #expect(several.eventLoop === loop && self.bus.eventLoop !== loop)
        await given.shutDown()
        await several.shutDown()
    }

    @Test func `a URL can be handled by a closure, an actor or an object`() async throws {
        try bus.register("app://user/detail") { message -> User in
            User(uid: try message.parameters.require("uid"), name: message.parameters["name"] ?? "")
        }
        try bus.register("app://slow/detail") { message -> User in
            await Task.yield()
            return User(uid: try message.parameters.require("uid"), name: "slow")
        }
        let accounts = Accounts(eventLoop: bus.eventLoop)
        try bus.register("app://users/:uid", on: accounts) { accounts, message in
            accounts.detail(uid: try message.parameters.require("uid"))
        }
        try bus.register("app://later/:uid", on: accounts) { accounts, message -> User in
            await Task.yield()
            return accounts.detail(uid: try message.parameters.require("uid"))
        }
        let registration = try bus.register("app://config", object: User(uid: 9, name: "bound"))
        #expect(registration.pattern == "app://config")
        let user: User = try await bus.route("app://user/detail?uid=1&name=Lili")
        #expect(user == User(uid: 1, name: "Lili"))
        #expect(try await bus.route("app://slow/detail", parameters: ["uid": 2], as: User.self).uid == 2)
        #expect(try await bus.route("app://users/3", as: User.self).uid == 3)
        #expect(try await bus.route("app://later/4", as: User.self).uid == 4)
        let reply = try await bus.route(
            "app://config",
            headers: ["trace": "1"],
            deadline: .now + .seconds(60)
        )
        #expect(try reply.value(as: User.self).uid == 9 && reply.isLast && reply.url == "app://config")
        #expect(reply.returnLeg == nil && !reply.description.isEmpty && reply.value is User)
        let plain = try await bus.route("app://config")
        #expect(plain.correlationID > reply.correlationID && plain.correlationID.rawValue > 0)
        #expect(bus.canRoute("app://config") && bus.routes.count == 5 && bus.routeDescriptions.count == 5)
        registration.cancel()
        #expect(!bus.canRoute("app://config"))
        #expect(bus.unregister("app://user/detail") && bus.unregister(scheme: "app") == 3)
    }

    @Test func `every failure throws an error with its own code`() async throws {
        try bus.register("app://user/:uid") { message -> Int in try message.parameters.require("uid") }
        try bus.register("app://broken") { _ -> Int in throw CancellationError() }
        try bus.register("app://slow") { _ in try await Task.sleep(for: .seconds(600)) }
        try bus.register("app://refused") { _ -> Int in throw RoutingError.refused("not today") }
        #expect(await code { try await bus.route("app://nobody/home") } == .noRoute)
        #expect(await code { try await bus.route("app://user/x") } == .invalidParameter)
        #expect(await code { try await bus.route("") } == .invalidURL)
        #expect(await code { let _: String = try await bus.route("app://user/7") } == .typeMismatch)
        #expect(await code { try await bus.route("app://broken") } == .handlerFailed)
        #expect(await code { try await bus.route("app://slow", deadline: .now) } == .deadlineExceeded)
        #expect(await code { try bus.register("app://user/:name") { _ in 1 } } == .conflict)
        let task = Task { [bus] in try await bus.route("app://slow") }
        task.cancel()
        await #expect(throws: RoutingError.self) { try await task.value }
        let uncaught = Inbox<String>()
        bus.setUncaughtHandler { message in Task { await uncaught.put(message.address.text) } }
        bus.send("app://nobody/else")
        #expect(await uncaught.next() == "app://nobody/else")
    }

    @Test func `a handler sends progress replies, and the caller answers them`() async throws {
        try bus.register("app://upload") { message -> Int in
            var accepted = 0
            for percent in [25, 50, 75] where try await message.reply(with: percent, expecting: Bool.self) {
                accepted += 1
            }
            return accepted
        }
        try bus.register("app://count") { message -> Int in
            for number in 1...3 { await message.reply(with: number) }
            return 4
        }
        let accepted: Int = try await bus.route("app://upload") { (percent: Int) in percent > 30 }
        #expect(accepted == 2)
        var seen: [Int] = []
        for try await reply in bus.replies(to: "app://count") { seen.append(try reply.value(as: Int.self)) }
        #expect(seen == [1, 2, 3, 4])
        var replies = bus.replies(to: "app://count").makeAsyncIterator()
        #expect(try await replies.next()?.value(as: Int.self) == 1)
        #expect(try await replies.next(isolation: #isolation)?.value(as: Int.self) == 2)
        let last = try await bus.route("app://count") { (number: Int) in #expect(number < 4) }
        #expect(try last.value(as: Int.self) == 4)
        for try await reply in bus.replies(to: "app://upload") where !reply.isLast {
            #expect(reply.answer(with: true))
        }
    }

    @Test func `a return URL receives the reply, unless the handler redirects or declines it`() async throws {
        let inbox = Inbox<Receipt>()
        try bus.register("app://home/receipt") { message in
            await inbox.put(try message.payload(as: Receipt.self))
            #expect(message.correlationID != nil && message.payload is Receipt)
        }
        try bus.register("app://order/pay") { message -> Receipt in
            let total: Int = try message.parameters.require("total")
            if total == 0 { message.declineReturn() }
            if total < 0 { message.replaceReturnURL(with: "home/receipt") }
            if total > 1_000 { message.sendReturn(Receipt(total: 1_000)) }
            return Receipt(total: total)
        }
        let reply = try await bus.route("app://order/pay?total=42#home/receipt")
        #expect(await inbox.next() == Receipt(total: 42))
        let leg = try #require(reply.returnLeg)
        guard case .delivered = await leg.outcome else {
            Issue.record("the return leg ended with \(await leg.outcome)")
            return
        }
        #expect(leg.correlationID == reply.correlationID && leg.url.contains("home/receipt"))
        if case .delivered = leg.current {} else { Issue.record("the outcome is not kept") }
        try await bus.route("app://order/pay?total=-1#nowhere/else")
        #expect(await inbox.next() == Receipt(total: -1))
        try await bus.route("app://order/pay?total=2000#home/receipt")
        #expect(await inbox.next() == Receipt(total: 1_000))
        let declined = try await bus.route("app://order/pay?total=0#home/receipt")
        let lost = try #require(try await bus.route("app://order/pay?total=5#nowhere/else").returnLeg)
        if case .underway = lost.current {}
        if case .failed(let error) = await lost.outcome {
            #expect(error.code == .noRoute)
        } else {
            Issue.record("a return URL led nowhere, and was delivered")
        }
        switch await declined.returnLeg?.outcome {
        case .declined?: break
        case .forwarded?: Issue.record("there is no other node")
        default: Issue.record("it was not declined")
        }
    }

    @Test func `each subscriber receives matching publications until it is cancelled`() async throws {
        let inbox = Inbox<String>()
        let accounts = Accounts(eventLoop: bus.eventLoop)
        let first = try bus.subscribe("app://session/:what") { message in
            #expect(message.parameters["what"] == "expired")
        }
        try bus.subscribe("app://session/expired") { message in
            await inbox.put(message.parameters["why"] ?? "")
        }
        try bus.subscribe("app://session/expired", on: accounts) { accounts, _ in _ = accounts.detail(uid: 1)
        }
        try bus.subscribe("app://session/expired", on: accounts) { accounts, _ in
            await Task.yield()
            _ = accounts.detail(uid: 2)
        }
        let delivered = try await bus.publish("app://session/expired", parameters: ["why": "idle"])
        #expect(delivered == 4)
        #expect(await inbox.next() == "idle")
        #expect(first.pattern == "app://session/:what")
        first.cancel()
        #expect(try await bus.publish("app://session/expired") == 3)
        let prices = try bus.subscription(to: "app://prices/:symbol", limit: 64, whenFull: .dropOldest)
        #expect(prices.pattern == "app://prices/:symbol")
        for symbol in ["a", "b"] { try await bus.publish("app://prices/\(symbol)") }
        var symbols: [String] = []
        for await message in prices {
            symbols.append(message.parameters["symbol"] ?? "")
            if symbols.count == 2 { break }
        }
        #expect(symbols == ["a", "b"])
        var iterator = try bus.subscription(to: "app://prices/:symbol").makeAsyncIterator()
        for symbol in ["c", "d"] { try await bus.publish("app://prices/\(symbol)") }
        #expect(await iterator.next()?.parameters["symbol"] == "c")
        #expect(await iterator.next(isolation: #isolation)?.parameters["symbol"] == "d")
        prices.cancel()
    }

    @Test func `a middleware reads and changes the parts of a message`() async throws {
        try bus.register("app://echo/:word") { message -> [String] in
            let changed = message.with(parameters: ["word": "other"]).with(headers: ["a": "b"])
                .with(deadline: .now + .seconds(60))
            #expect(changed.headers == ["a": "b"] && changed.deadline != nil && message.deadline == nil)
            #expect(message.id.rawValue > 0 && message.returnURL == nil && !message.description.isEmpty)
            let word: String = try message.argument("word")
            let count: Int? = try message.argument("count")
            let tags: [String] = try message.argument("tag")
            #expect(try message.argument("none", default: 5) == 5)
            return [word, changed.parameters["word"] ?? "", "\(count ?? 0)"] + tags + [message.address.scheme]
        }
        let words: [String] = try await bus.route("app://echo/hi?tag=a&tag=b&count=3")
        #expect(words == ["hi", "other", "3", "a", "b", "app"])
    }

    @Test func `the bus's counts balance, and dead letters contain the failures`() async throws {
        try bus.register("app://one") { _ in 1 }
        let letters = bus.deadLetters
        let few = bus.deadLetters(limit: 1)
        bus.send("app://nobody/home", parameters: ["a": 1], headers: ["b": "c"])
        var iterator = letters.makeAsyncIterator()
        let letter = try #require(await iterator.next())
        var latest = few.makeAsyncIterator()
        #expect(await latest.next(isolation: #isolation)?.id == letter.id)
        #expect(letter.error.code == .noRoute && letter.url == "app://nobody/home" && letter.pattern == nil)
        #expect(!letter.isAwaited && letter.message != nil && letter.id.rawValue > 0 && letter.time <= .now)
        #expect(
            letter.description.hasPrefix("dead letter \(letter.id)") && letters.dropped == 0
                && few.dropped == 0
        )
        try await bus.route("app://one")
        try await bus.enqueue("app://one")
        let one = try #require(bus.routeStatistics.first)
        #expect(
            one.pattern == "app://one" && one.counts.replied >= 1 && one.line > 0 && !one.description.isEmpty
        )
        #expect(one.fileID.contains("DeliveryTests"))
        let summary = await bus.shutDown(drainingUntil: .now + .seconds(60))
        let books = bus.statistics
        #expect(summary.abandoned == 0 && summary.finished >= 0)
        #expect(books.sent == 3 && books.replied == 2 && books.deadLettered == 1 && books.inFlight == 0)
        #expect(books.failed == 0 && books.expired == 0 && books.cancelled == 0 && books.lateReplies == 0)
        #expect((books - books).sent == 0 && books.description.contains("3"))
    }

    @Test func `a trace shows a message and its reply`() async throws {
        try bus.register("app://one") { message -> Int in
            try await message.reply(with: 0, expecting: Int.self)
        }
        let trace = try bus.trace(matching: "app://**", bufferLimit: 16)
        try await bus.route("app://one") { (_: Int) in 1 }
        var kinds: [String] = []
        for await event in trace {
            #expect(event.pattern == "app://one" && event.duration >= .zero && event.time <= .now)
            #expect(event.message.address.text == "app://one" && !event.description.isEmpty)
            #expect(event.cause == nil)
            switch event.kind {
            case .message: kinds.append("message")
            case .progress: kinds.append("progress")
            case .answer(let answer): kinds.append("answer \(answer)")
            case .reply: kinds.append("reply")
            case .failure(let error): kinds.append("\(error)")
            }
            if kinds.count == 4 { break }
        }
        #expect(kinds == ["message", "progress", "answer 1", "reply"] && trace.dropped == 0)
        var iterator = trace.makeAsyncIterator()
        try await bus.route("app://one") { (_: Int) in 1 }
        #expect(await iterator.next() != nil)
        #expect(await iterator.next(isolation: #isolation) != nil)
    }

    @Test func `withMessageBus returns the value of its body and shuts the bus down`() async throws {
        let answer = try await withMessageBus(MessageBus(), drainingFor: .seconds(60)) { bus in
            try bus.register("app://now") { _ in 1 }
            return try await bus.route("app://now", as: Int.self)
        }
        #expect(answer == 1)
    }

    @Test func `expose makes URLs reachable for peers, until it is cancelled`() async throws {
        let all: [ExposedOperations] = [.calls, .sends, .publishing, .subscribing]
        #expect(ExposedOperations(all) == .all && ExposedOperations(rawValue: 1) == .calls)
        #expect(ExposedOperations.reads.contains(.calls) && ExposedOperations.calls.rawValue == 1)
        let exposure = try bus.expose("app://who/**", for: .all)
        #expect(bus.exposedOperations(of: "app://who/asks") == .all)
        try bus.register("app://who/asks") { message -> Bool in
            let origin: MessageOrigin = message.origin
            #expect(origin.transport == nil && origin.peer == nil && origin.userID == nil)
            return origin.isLocal && origin == .local && !origin.description.isEmpty
        }
        #expect(try await bus.route("app://who/asks", as: Bool.self))
        exposure.cancel()
        #expect(bus.exposedOperations(of: "app://who/asks").isEmpty)
    }

    @Test func `share makes URLs reachable for other nodes, until it is cancelled`() async throws {
        struct Secret: Sendable {}
        let share = try bus.share("app://shared/**", for: [.calls, .publishing])
        #expect(bus.sharedOperations(of: "app://shared/one") == [.calls, .publishing])
        #expect(bus.exposedOperations(of: "app://shared/one").isEmpty)
        try bus.register("app://shared/one") { _ in Secret() }
        #expect(bus.validate().map(\.code) == [.notTransferable])
        share.cancel()
        #expect(bus.sharedOperations(of: "app://shared/one").isEmpty && bus.validate().isEmpty)
    }

    @Test func `a handler decodes all parameters, and the default scheme and fallback can change`()
        async throws
    {
        struct Page: Decodable {
            var number: Int
            var tag: String?
        }
        try bus.register(scheme: "book")
        try bus.register("book://page") { message in try message.decode(Page.self).number }
        bus.defaultScheme = "book"
        bus.fallsBack = true
        #expect(bus.defaultScheme == "book" && bus.fallsBack)
        #expect(try await bus.route("/page/none?number=7", as: Int.self) == 7)
        #expect(bus.canOpenURL("book://page?number=7") && !bus.canOpenURL("/page"))
    }

    @Test func `each registration has the text that was registered`() throws {
        let patterns = [
            try bus.register("app://text") { _ in 1 }.pattern,
            try bus.subscribe("app://text/**") { _ in }.pattern,
            try bus.connect("text", to: NativeConnector(Actions())).pattern,
            bus.use(TimeoutMiddleware(.seconds(1))).pattern,
            try bus.provide((any TimeService).self, at: "text://time") { TimeServiceProxy($0) }.pattern,
        ]
        #expect(patterns == ["app://text", "app://text/**", "text:", "**", "TimeService"])
    }

    @Test func `message IDs are ordered, and dates, UUIDs and URLs can be URL parameters`() throws {
        let id = CorrelationID(rawValue: 255)
        #expect(id.description == "ff" && id < CorrelationID(rawValue: 256))
        func survives<Value: URLParameter & Equatable>(_ value: Value) -> Bool {
            Value(urlParameter: value.urlParameter) == value
        }
        let (date, id2) = (Date(timeIntervalSince1970: 1), UUID())
        #expect(Date(urlParameter: date.urlParameter) == date && survives(date))
        #expect(UUID(urlParameter: id2.urlParameter) == id2 && survives(id2))
        let url = try #require(URL(urlParameter: "https://example.com/a"))
        #expect(url.urlParameter == "https://example.com/a" && survives(url))
    }

    @Test func `validate finds problems before the first message`() throws {
        try bus.register("app://one") { _ in 1 }
        #expect(bus.validate(urls: ["app://one"]).isEmpty)
        #expect(bus.validate(urls: ["app://two"]).map(\.code) == [.noRoute])
    }
}
