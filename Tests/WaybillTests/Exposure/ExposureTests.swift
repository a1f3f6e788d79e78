import Testing
import WaybillEventLoop
import WaybillTestSupport

@testable import Waybill

/// The URLs that peers can reach, and the information that they receive about all other URLs.
@Suite(.timeLimit(.minutes(1)))
struct ExposureTests {
    private let bus = MessageBus(configuration: .quiet)

    /// Returns the result of a peer's call.
    private func call(
        _ url: String,
        _ parameters: [String: any Sendable] = [:]
    ) async -> Result<String, RoutingError> {
        await self.bus.outcome(of: ExternalRequest(url: url, parameters: parameters, origin: .peer))
    }

    @Test
    func `a peer's call of a URL that is not exposed fails like a URL that does not exist`() async throws {
        try self.bus.register("app://user/:id") { _ in "user" }
        try self.bus.register("app://orders/list") { _ in "orders" }
        try self.bus.register("secret://vault/open") { _ in "vault" }
        try self.bus.expose("app://user/**")
        #expect(try await self.call("app://user/1").get() == "user")

        // The two URLs of each pair differ in one letter, and only the first one has a route.
        for (hidden, missing) in [
            ("app://orders/list", "app://orderz/list"), ("secret://vault/open", "secret://vault/opem"),
            ("app://orders/list?a=1#b", "app://orderz/list?a=1#b"),
        ] {
            let (first, second) = (await self.call(hidden), await self.call(missing))
            guard case .failure(let first) = first, case .failure(let second) = second else {
                Issue.record("\(hidden) is reached")
                continue
            }
            #expect(first.code == .noRoute && second.code == .noRoute)
            #expect(first.message == second.message && first.route == nil && first.module == nil)
            #expect(first.url == hidden && second.url == missing)
            #expect(
                first.cause == nil && !first.message.contains("orders") && !first.message.contains("vault")
            )
        }
        let explained = self.bus.explainExposed("app://orders/list")
        #expect(explained.route == nil && !explained.nearest.contains { $0.contains("orders") })
        #expect(explained.trace == self.bus.explainExposed("app://orders/list").trace)
        self.bus.unregister("app://orders/list")
        #expect(explained.trace == self.bus.explainExposed("app://orders/list").trace)
    }

    @Test
    func `suggestions for a peer contain only exposed routes`() async throws {
        try self.bus.register("app://user/detail") { _ in "detail" }
        try self.bus.register("app://user/delete") { _ in "delete" }
        try self.bus.expose("app://user/detail")
        for url in ["app://user/delate", "app://user/delete", "app://user/detaul"] {
            guard case .failure(let error) = await self.call(url) else {
                Issue.record("\(url) is reached")
                continue
            }
            #expect(error.message == "no pattern matches; did you mean app://user/detail?")
        }
        // The suggestions are correct below an exposed pattern too, where the peer may call the URL itself.
        try self.bus.expose("app://open/**")
        try self.bus.register("app://open/all") { _ in "all" }
        try self.bus.register("app://opem/all") { _ in "hidden" }
        let error = await failure { _ = try await self.call("app://open/al").get() }
        #expect(error?.message == "no pattern matches; did you mean app://open/all?")
    }

    @Test
    func `a noRoute error that a handler throws reaches the peer unchanged`() async throws {
        try self.bus.register("app://user/:id") { _ -> String in
            throw RoutingError(.noRoute, message: "there is no such user")
        }
        try self.bus.expose("app://user/:id")
        let error = await failure { _ = try await self.call("app://user/1").get() }
        #expect(error?.message == "there is no such user")
    }

    @Test
    func `peers see exposed routes, and the exposed parts of other routes`() throws {
        for pattern in [
            "app://user/:id", "app://user/:id/orders", "app://files/**", "app://hidden", "app://a/:b",
        ] {
            try self.bus.register(pattern) { _ in () }
        }
        #expect(self.bus.exposedRoutes(to: .peers).isEmpty)
        let registration = try self.bus.expose("app://user/**", for: .reads)
        #expect(
            self.bus.exposedRoutes(to: .peers).map(\.pattern) == ["app://user/:id", "app://user/:id/orders"]
        )
        try self.bus.expose("app://files/public/**", for: .sends)
        try self.bus.expose("app://a/<int:b>")
        try self.bus.expose("app://hidden", for: [.publishing, .subscribing])
        #expect(
            self.bus.exposedRoutes(to: .peers).map(\.pattern) == [
                "app://user/:id", "app://user/:id/orders", "app://files/public/**", "app://a/<int:b>",
            ]
        )
        #expect(self.bus.explainExposed("app://user/1").route?.pattern.text == "app://user/:id")
        #expect(registration.pattern == "app://user/**")
        registration.cancel()
        registration.cancel()
        #expect(
            self.bus.exposedRoutes(to: .peers).map(\.pattern) == ["app://files/public/**", "app://a/<int:b>"]
        )
        // The list shows a removed route at once.
        self.bus.unregister("app://files/**")
        #expect(self.bus.exposedRoutes(to: .peers).map(\.pattern) == ["app://a/<int:b>"])
    }

    @Test
    func `calls, sends, publishing and subscribing are exposed separately`() async throws {
        let heard = Journal<String>()
        try self.bus.register("app://x") { _ in heard.add("routed") }
        try self.bus.subscribe("app://x") { _ in heard.add("published") }
        let all: [ExposedOperations] = [.calls, .sends, .publishing, .subscribing]
        for operation in all {
            let registration = try self.bus.expose("app://x", for: operation)
            #expect(self.bus.exposedOperations(of: "app://x") == operation)
            let request = ExternalRequest(url: "app://x", origin: .peer)
            let wasCalled = await failure { try await self.bus.route(request) } == nil
            let wasSent = await failure { try self.bus.send(request) } == nil
            let count = try await self.bus.publish(request)
            let wasSubscribed =
                await failure { try self.bus.externalMessages(of: "app://**").cancel() } == nil
            #expect(wasSubscribed == (operation == .subscribing))
            #expect(wasCalled == (operation == .calls))
            #expect(wasSent == (operation == .sends))
            #expect(count == (operation == .publishing ? 1 : 0))
            registration.cancel()
        }
        #expect(await self.bus.settles())
        #expect(heard.entries.sorted() == ["published", "routed", "routed"])
        let statistics = self.bus.statistics
        let ends = statistics.replied + statistics.failed + statistics.expired + statistics.cancelled
        #expect(statistics.sent == ends + statistics.deadLettered)
    }

    @Test
    func `a peer's subscription receives only exposed messages`() async throws {
        try self.bus.expose("app://prices/:symbol", for: .subscribing)
        try self.bus.expose("app://prices/**", for: [.calls, .publishing])
        let messages = try self.bus.externalMessages(of: "app://**", limit: 2)
        // A message that is not exposed to the peer does not use its buffer, and is not counted as accepted.
        for _ in 0..<5 { #expect(try await self.bus.publish("app://secret/1") == 0) }
        #expect(try await self.bus.publish("app://prices/AAPL") == 1)
        #expect(try await self.bus.publish("app://prices/AAPL/history") == 0)
        #expect(try await self.bus.publish("APP://prices//MSFT/?a=1") == 1)
        var iterator = messages.makeAsyncIterator()
        #expect(await iterator.next()?.address.text == "app://prices/AAPL")
        #expect(await iterator.next()?.address.text == "APP://prices//MSFT/?a=1")
        messages.cancel()
        #expect(await iterator.next() == nil)
    }

    @Test
    func `a middleware sees the exposed pattern, and not the pattern that a peer invents`() async throws {
        let seen = Journal<String>()
        self.bus.use(PatternJournal(patterns: seen))
        try self.bus.expose("app://prices/:symbol", for: .subscribing)
        for pattern in ["app://prices/:x1", "app://prices/AAPL", "app://**"] {
            let messages = try self.bus.externalMessages(of: pattern)
            #expect(try await self.bus.publish("app://prices/AAPL") == 1)
            var iterator = messages.makeAsyncIterator()
            #expect(await iterator.next() != nil)
            messages.cancel()
        }
        #expect(seen.entries == Array(repeating: "app://prices/:symbol", count: 3))
        // If a subscription receives the messages of several exposed patterns, none of them is named.
        try self.bus.expose("app://news/*", for: .subscribing)
        let messages = try self.bus.externalMessages(of: "app://**")
        #expect(try await self.bus.publish("app://news/1") == 1)
        var iterator = messages.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        #expect(seen.entries.last == "**")
    }

    @Test
    func `calls within the process need no exposure`() async throws {
        try self.bus.register("app://inner") { message in message.origin.isLocal }
        try self.bus.register("app://outer") { [bus] message -> Bool in
            #expect(message.origin == .peer)
            return try await bus.route("app://inner")
        }
        try self.bus.expose("app://outer")
        #expect(try await self.bus.route("app://inner") == true)
        let reply = try await self.bus.route(ExternalRequest(url: "app://outer", origin: .peer))
        #expect(try reply.value(as: Bool.self))
    }

    @Test
    func `a bus that has been shut down rejects a peer's request, whatever its hops`() async throws {
        try self.bus.register("app://x") { _ in "x" }
        try self.bus.expose("app://x")
        _ = await self.bus.shutDown()
        for hops in [0, 3] {
            let error = await failure {
                try await self.bus.route(ExternalRequest(url: "app://x", hops: hops, origin: .peer))
            }
            #expect(error?.code == .shutDown)
        }
        #expect(throws: RoutingError.self) { try self.bus.expose("app://y") }
    }

    @Test
    func `a peer's hops and deadlines are limited by the bus`() async throws {
        try self.bus.register("app://hops") { message in message.hops }
        try self.bus.register("app://deadline") { message in message.deadline }
        try self.bus.expose("app://**")
        func call(
            _ url: String,
            hops: Int = 0,
            deadline: ContinuousClock.Instant? = nil
        ) async throws -> Reply {
            try await self.bus.route(
                ExternalRequest(url: url, deadline: deadline, hops: hops, origin: .peer)
            )
        }
        #expect(try await call("app://hops", hops: .min).value(as: Int.self) == 0)
        #expect(try await call("app://hops", hops: 16).value(as: Int.self) == 16)
        for hops in [17, .max] {
            #expect(await failure { try await call("app://hops", hops: hops) }?.code == .hopLimitExceeded)
        }
        let late = await failure { try await call("app://hops", deadline: .now - .seconds(1)) }
        #expect(late?.code == .deadlineExceeded)
        let far = ContinuousClock.now + .seconds(Int64.max / 4)
        #expect(try await call("app://hops", deadline: far).value(as: Int.self) == 0)
        let soon = ContinuousClock.now + .seconds(60)
        let deadline = try await call("app://deadline", deadline: soon).value(
            as: ContinuousClock.Instant?.self
        )
        #expect(deadline == soon)
    }

    @Test
    func `a peer that disconnects cancels its handler`() async throws {
        let gate = Gate()
        let ended = Journal<String>()
        try self.bus.register("app://x") { _ in
            gate.reach()
            do { try await hang() } catch { ended.add("cancelled") }
        }
        try self.bus.expose("app://x")
        let bus = self.bus
        let task = Task { try await bus.route(ExternalRequest(url: "app://x", origin: .peer)) }
        await gate.reached()
        task.cancel()
        #expect(await ended.comes(to: "cancelled"))
        #expect(await failure { try await task.value }?.code == .cancelled)
    }

    @Test
    func `a peer receives and answers progress replies`() async throws {
        try self.bus.register("app://pay") { message -> String in
            let isAccepted = try await message.reply(with: 42, expecting: Bool.self)
            return isAccepted ? "paid" : "not paid"
        }
        try self.bus.expose("app://pay")
        let request = ExternalRequest(url: "app://pay", origin: .peer)
        let reply = try await self.bus.route(request) { update in update as? Int == 42 }
        #expect(try reply.value(as: String.self) == "paid")
        #expect(await failure { try await self.bus.route(request) }?.code == .noHandler)
    }
}

extension MessageOrigin {
    /// A peer on a Unix socket.
    static let peer = MessageOrigin(transport: "unix", userID: 1000)
}

extension MessageBus {
    /// Returns the result for a peer as text.
    func outcome(of request: ExternalRequest) async -> Result<String, RoutingError> {
        do throws(RoutingError) {
            return .success("\(try await self.route(request).value)")
        } catch {
            return .failure(error)
        }
    }
}
