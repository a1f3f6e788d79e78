import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// A message that handlers pass on endlessly ends at the hop limit.
@Suite(.timeLimit(.minutes(1)))
struct HopLimitTests {
    let bus = MessageBus(configuration: .quiet)
    let limit = MessageBus.Configuration.quiet.hopLimit

    @Test(arguments: [true, false])
    func `two routes that call each other end at the hop limit`(isOnOneLoop: Bool) async throws {
        let journal = Journal<Int>()
        let far = Probe(eventLoop: isOnOneLoop ? self.bus.eventLoop : EventLoop())
        try self.bus.register("app://a") { [weak bus] _ in
            journal.add(1)
            try await bus?.route("app://b", as: Void.self)
        }
        try self.bus.register("app://b", on: far) { [weak bus] _, _ in
            journal.add(2)
            try await bus?.route("app://a", as: Void.self)
        }
        var error = await failure { try await self.bus.route("app://a") }
        for _ in 0...self.limit {
            #expect(error?.code == .handlerFailed)
            error = error?.cause as? RoutingError
        }
        #expect(error?.code == .hopLimitExceeded && error?.cause == nil)
        #expect(error?.message.contains("\(self.limit)") == true)
        #expect(journal.count == self.limit + 1)
        #expect(self.bus.statistics.sent == self.limit + 2 && self.bus.statistics.inFlight == 0)
    }

    enum Kind: CaseIterable, Sendable { case now, later, far }
    enum Start: CaseIterable, Sendable { case send, sendOnLoop, route, routeOnLoop }

    @Test(arguments: Kind.allCases, Start.allCases)
    func `a handler that sends to itself ends at the hop limit`(kind: Kind, start: Start) async throws {
        let journal = Journal<Int>()
        let far = Probe(eventLoop: EventLoop())
        switch kind {
        case .now:
            try self.bus.register("app://a") { [weak bus] _ in
                journal.add(1)
                bus?.send("app://a")
            }
        case .later:
            try self.bus.register("app://a") { [weak bus] _ in
                journal.add(1)
                await Task.yield()
                bus?.send("app://a")
            }
        case .far:
            try self.bus.register("app://a", on: far) { [weak bus] _, _ in
                journal.add(1)
                bus?.send("app://a")
            }
        }
        let bus = self.bus
        let probe = Probe(eventLoop: bus.eventLoop)
        switch start {
        case .send: bus.send("app://a")
        case .sendOnLoop: await probe.run { bus.send("app://a") }
        case .route: try await bus.route("app://a")
        case .routeOnLoop: try await probe.run { try await bus.route("app://a", as: Void.self) }
        }
        #expect(await bus.settles())
        #expect(journal.count == self.limit + 1)
        #expect(bus.statistics.deadLettered == 1 && bus.statistics.replied == self.limit + 1)
    }

    @Test func `return URLs count as hops`() async throws {
        let journal = Journal<Int>()
        try self.bus.register("app://a/:n") { journal.add(try $0.parameters.require("n")) }
        let url = (0...40).map { "app://a/\($0)" }.joined(separator: "#")
        try await self.bus.route(url)
        #expect(await self.bus.settles())
        #expect(await eventually { self.bus.statistics.deadLettered == 1 })
        #expect(journal.entries == Array(0...self.limit))
    }

    @Test func `a handler's call from its own task counts as a hop`() async throws {
        let errors = Journal<RoutingError.Code?>()
        try self.bus.register("app://a") { [weak bus] _ in
            await Task.yield()
            Task {
                if let error = await failure({ try await bus?.route("app://a") }) { errors.add(error.code) }
            }
        }
        try await self.bus.route("app://a")
        #expect(await eventually { errors.entries == [.hopLimitExceeded] })
    }

    enum Way: CaseIterable, Sendable { case route, value, publish, replies, later }

    @Test(arguments: Way.allCases, Start.allCases)
    func `a call from a task that a handler starts in place counts as a hop`(
        way: Way,
        start: Start
    ) async throws {
        let journal = Journal<Int>()
        let errors = Journal<RoutingError.Code>()
        let bus = self.bus
        try bus.register("app://b") { [weak bus] _ in
            if let error = await failure({ try await bus?.route("app://a") }) { errors.add(error.code) }
        }
        let again: @Sendable (Message) -> Void = { [weak bus] _ in
            journal.add(1)
            Task.immediate {
                let error = await failure {
                    switch way {
                    case .route: try await bus?.route("app://a", parameters: ["a": 1])
                    case .value: try await bus?.route("app://a", as: Void.self)
                    case .publish: try await bus?.publish("app://a")
                    case .replies: if let bus { for try await _ in bus.replies(to: "app://a") {} }
                    case .later: try await bus?.route("app://b", as: Void.self)
                    }
                }
                if let error { errors.add(error.code) }
            }
        }
        try bus.register("app://a", again)
        try bus.subscribe("app://a", again)
        let probe = Probe(eventLoop: bus.eventLoop)
        switch start {
        case .send: bus.send("app://a")
        case .sendOnLoop: await probe.run { bus.send("app://a") }
        case .route: try await bus.route("app://a")
        case .routeOnLoop: try await probe.run { try await bus.route("app://a", as: Void.self) }
        }
        #expect(await eventually { errors.entries == [.hopLimitExceeded] })
        #expect(await bus.settles())
        #expect(journal.count == (way == .later ? self.limit / 2 : self.limit) + 1)
        // Later messages do not inherit the hops of earlier ones.
        try bus.register("app://c") { _ in 1 }
        #expect(try await probe.run { try await bus.route("app://c", as: Int.self) } == 1)
    }

    @Test func `a call that ends within another message's call does not change its hops`() async throws {
        let journal = Journal<Int>()
        let bus = self.bus
        try bus.register("app://leaf") { _ in 1 }
        try bus.register("app://rest") { _ in
            await Task.yield()
            return 1
        }
        try bus.register("app://a") { [weak bus] _ in
            journal.add(1)
            for url in ["app://leaf", "app://rest"] {
                Task.immediate { _ = await failure { try await bus?.route(url) } }
            }
            bus?.send("app://a")
        }
        try await Probe(eventLoop: bus.eventLoop).run { try await bus.route("app://a", as: Void.self) }
        #expect(await bus.settles())
        #expect(journal.count == self.limit + 1)
    }
}
