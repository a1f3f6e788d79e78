import Logging
import Testing
import Waybill
import WaybillCompatibility
import WaybillMetrics
import WaybillTracing

struct Pages: Connector {
    let destination: WebDestination

    func route(_ message: Message) async throws -> any Sendable { try await self.destination.route(message) }
}

struct Memos: Connector {
    let texts: [String: String]

    func willRoute(_ message: Message) async throws {
        guard message.headers["user"] != nil else { throw RoutingError.refused("sign in first") }
    }

    func route(_ message: Message) async throws -> any Sendable {
        let name = message.address.segments.joined(separator: "/")
        guard let text = self.texts[name] else {
            throw RoutingError(.noHandler, message: "there is no memo \(name)")
        }
        for line in text.split(separator: "\n") { await message.reply(with: String(line)) }
        return text
    }

    func canRoute(_ address: Address) -> Bool {
        self.texts[address.segments.joined(separator: "/")] != nil
    }
}

struct Stamp: Middleware {
    func prepare(_ message: Message) -> Message { message.with(headers: ["prepared": "yes"]) }

    func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        #expect(context.pattern != nil && context.now <= .now)
        context.logger.trace("stamped")
        try await context.sleep(for: .zero)
        return try await next(
            message.with(headers: message.headers.merging(["stamp": "1"]) { _, new in new })
        )
    }
}

/// A middleware that wraps one of the bus's middlewares.
struct Timed<Base: Middleware>: Middleware {
    let base: Base
    let times: Inbox<Duration>

    func prepare(_ message: Message) -> Message { self.base.prepare(message) }

    func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        let began = context.now
        let reply = try await self.base.handle(message, context: context, next: next)
        await self.times.put(began.duration(to: context.now))
        return reply
    }
}

/// A middleware that calls two middlewares of the bus by their types.
struct InTurn: Middleware {
    func prepare(_ message: Message) -> Message { TracingMiddleware().prepare(message) }

    func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        switch message.parameters["way"] {
        case "filter":
            return try await FilterMiddleware { _ in true }.handle(message, context: context, next: next)
        case "timeout":
            return try await TimeoutMiddleware(.seconds(60)).handle(message, context: context, next: next)
        case "retry":
            return try await RetryMiddleware(idempotent: ["app://**"]).handle(
                message,
                context: context,
                next: next
            )
        case "metrics":
            return try await MetricsMiddleware(prefix: "turn").handle(message, context: context, next: next)
        case "tracing": return try await TracingMiddleware().handle(message, context: context, next: next)
        default:
            return try await LoggingMiddleware(logger: Logger(label: "turn"), level: .trace)
                .handle(message, context: context, next: next)
        }
    }
}

/// A connector that answers each message.
struct Echoes: Connector {
    func route(_ message: Message) async throws -> any Sendable { message.address.text }
}

/// Middleware, connectors and configurations, as the articles print them.
struct MiddlewareTests {
    private let bus = MessageBus()

    @Test func `each delivery passes through the middlewares, until they are removed`() async throws {
        try bus.register("app://echo") { message in message.headers["stamp"] ?? "" }
        let stamp = bus.use(Stamp())
        try bus.use(TimeoutMiddleware(.seconds(60)), for: "app://**")
        bus.use(LoggingMiddleware(logger: Logger(label: "consumer"), level: .trace, failureLevel: .trace))
        let filter = bus.use(FilterMiddleware({ message in message.parameters["no"] == nil }))
        bus.use(FilterMiddleware(onFailure: { _, _ in }))
        #expect(try await bus.route("app://echo", as: String.self) == "1")
        await #expect(throws: RoutingError.self) { try await bus.route("app://echo?no=1") }
        filter.cancel()
        stamp.cancel()
        #expect(try await bus.route("app://echo?no=1", as: String.self) == "")
    }

    @Test func `a middleware can be composed of other middlewares`() async throws {
        try bus.register("app://echo") { message in message.parameters["way"] ?? "" }
        let times = Inbox<Duration>()
        bus.use(Timed(base: InTurn(), times: times))
        for way in ["filter", "timeout", "retry", "metrics", "tracing", "logging"] {
            #expect(try await bus.route("app://echo", parameters: ["way": way], as: String.self) == way)
            #expect(await times.next() >= .zero)
        }
        // A middleware that does not implement an optional method behaves as if it did nothing.
        try bus.register("app://plain") { message -> String in
            FilterMiddleware({ _ in true }).prepare(message).address.text
        }
        #expect(try await bus.route("app://plain?way=filter", as: String.self).hasPrefix("app://plain"))
    }

    @Test func `the retry middleware repeats a failed delivery until it succeeds`() async throws {
        let tries = Tries()
        try bus.register("app://shaky") { _ -> Int in
            guard await tries.next() == 3 else { throw CancellationError() }
            return 3
        }
        var backoff = Backoff(first: .milliseconds(1), factor: 1, longest: .milliseconds(1), jitter: 0)
        backoff.jitter = 0.1
        backoff.first = .milliseconds(1)
        backoff.factor = 2
        backoff.longest = .milliseconds(2)
        #expect(backoff.delay(after: 1) > .zero && RetryMiddleware.passingReasons.contains(.unreachable))
        bus.use(try RetryMiddleware(idempotent: ["app://shaky"], attempts: 3, backoff: backoff))
        #expect(try await bus.route("app://shaky", as: Int.self) == 3)
    }

    private actor Tries {
        private var count = 0
        func next() -> Int {
            self.count += 1
            return self.count
        }
    }

    @Test func `a connector handles the URLs of its scheme`() async throws {
        let registration = try bus.connect("memo", to: Memos(texts: ["shopping/list": "bread\ntea"]))
        let text: String = try await bus.route("memo://shopping/list", headers: ["user": "lili"])
        #expect(text == "bread\ntea" && bus.connectedSchemes == ["memo"])
        #expect(bus.canRoute("memo://shopping/list") && !bus.canRoute("memo://a/b"))
        await #expect(throws: RoutingError.self) { try await bus.route("memo://shopping/list") }
        registration.cancel()
        #expect(!bus.canRoute("memo://shopping/list"))
        try bus.register("app://asks") { message -> Bool in
            func asks(_ connector: some Connector) async throws -> Bool {
                try await connector.willRoute(message)
                return connector.canRoute(message.address)
            }
            let echoes = Echoes()
            try await echoes.willRoute(message)
            return try await asks(echoes) && echoes.canRoute(message.address)
        }
        #expect(try await bus.route("app://asks", as: Bool.self))
    }

    @Test func `connectors call targets and actions by name`() async throws {
        try await bus.install { Plain() }
        try bus.register("app://browser/open") { message -> String in try message.argument("url") }
        try bus.connect("https", to: WebDestination("app://browser/open", on: bus))
        #expect(try await bus.route("https://example.com/", as: String.self) == "https://example.com/")
        let destination = WebDestination { message in message.address.text }
        try bus.connect("http", to: destination)
        #expect(try destination.canRoute(Address("http://example.com/")))
        try bus.connect("http", to: Pages(destination: destination))
        #expect(try await bus.route("http://example.com/", as: String.self) == "http://example.com/")
        try bus.connect("native", to: NativeConnector(modulesOf: bus))
        #expect(try await bus.route("native://plain/double?number=4", as: Int.self) == 8)
        var actions = Actions()
        try actions.declare("detail", of: "User", values: .needed) { message in
            User(uid: try message.parameters.require("uid"), name: message.parameters["name"] ?? "")
        }
        try actions.declare("log", of: "User", values: .none) { _ in }
        try actions.declare("find", of: "User", values: .optional) { _ in }
        let native = NativeConnector(actions)
        #expect(native.canRoute(try Address("legacy://user/log")))
        try bus.register("app://user/log") { message in _ = try await native.route(message) }
        try await bus.route("app://user/log")
        #expect(actions.all.map(\.name).sorted() == ["detail", "find", "log"])
        #expect(Set(actions.all.map(\.target)) == ["User"] && actions.all.contains { $0.values == .needed })
        let targets: [NativeConnector.Target] = [.firstSegment, .scheme]
        try bus.connect("legacy", to: NativeConnector(actions, target: targets[0]))
        try bus.connect("user", to: NativeConnector(actions, target: targets[1]))
        #expect(try await bus.route("user://detail?uid=4", as: User.self).uid == 4)
        #expect(try await bus.route("legacy://user/detail?uid=3", as: User.self).uid == 3)
    }

    @Test func `routes can be configured outside of the code`() async throws {
        try await bus.install { Plain() }
        try bus.load(["app://d/:number": "Plain.double", "app://later": "app://plain/later"])
        #expect(try await bus.route("app://d/4", as: Int.self) == 8)
        #expect(try await bus.route("app://later", as: Int.self) == 1)
        let source = RouteConfiguration.Source(file: "shop.yaml", line: 3, key: "pages")
        let entry = RouteConfiguration.Entry(pattern: "app://page/:name", target: "page", source: source)
        let page: MessageBus.Destination = { message in message.parameters["name"] ?? "front" }
        var configuration = RouteConfiguration([entry])
        #expect(entry.source == source)
        configuration.entries.append(.init(pattern: "app://front", target: "page"))
        try bus.load(
            configuration,
            destinations: ["page": page]
        )
        #expect(try await bus.route("app://page/about", as: String.self) == "about")
        #expect(!bus.canRoute("app://d/4") && entry.pattern == "app://page/:name" && entry.target == "page")
        #expect(
            source.file == "shop.yaml" && source.line == 3 && source.key == "pages"
                && !source.description.isEmpty
        )
        do {
            try bus.load(
                RouteConfiguration([.init(pattern: "app://a/<itn:b>", target: "page", source: source)])
            )
            Issue.record("a pattern that is none was loaded")
        } catch {
            #expect(
                error.source == source && !error.message.isEmpty && error.description.contains("shop.yaml")
            )
        }
        #expect(ConfigurationError(source, "no", cause: nil).cause == nil)
    }
}
