import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// The results of a caller, for each kind of call and each kind of handler.
@Suite(.timeLimit(.minutes(1)), .everyHost, .alsoElsewhere)
struct RouteTests {
    let modules = CalledModules.underTest()
    var bus: MessageBus { self.modules.bus }
    var caller: MessageBus { self.modules.caller }

    enum Place: CaseIterable, Sendable { case outside, home, elsewhere }

    /// Runs code at a place: outside of the loops, on the bus's loop, or on another loop.
    static func run<Value: Sendable>(
        _ place: Place,
        _ bus: MessageBus,
        _ body: @Sendable () async throws -> Value
    ) async rethrows -> Value {
        guard place != .outside else { return try await body() }
        let loop = place == .home ? bus.eventLoop : EventLoop(name: "elsewhere")
        return try await Probe(eventLoop: loop).run {
            loop.preconditionInEventLoop()
            return try await body()
        }
    }

    @Test(
        .inProcessOnly("a message has an ID of its own in each bus"),
        arguments: Place.allCases,
        ["app://now", "app://later", "app://actor", "app://far"]
    )
    func `each reply has its message's ID, and IDs increase`(place: Place, url: String) async throws {
        let near = Probe(eventLoop: self.bus.eventLoop)
        let far = Probe(eventLoop: EventLoop())
        try self.bus.register("app://now") { $0.id }
        try self.bus.register("app://later") { message -> CorrelationID in
            await Task.yield()
            return message.id
        }
        try self.bus.register("app://actor", on: near) { $1.id }
        try self.bus.register("app://far", on: far) { $1.id }
        let (bus, caller) = (self.bus, self.caller)
        let replies = try await Self.run(place, bus) { () -> [Reply] in
            [
                try await caller.route(url), try await caller.route(url, parameters: ["a": 1]),
                try await caller.route(url, headers: ["a": "b"], deadline: .now + .seconds(60)),
            ]
        }
        for reply in replies { #expect(reply.value as? CorrelationID == reply.correlationID) }
        #expect(replies.map(\.correlationID) == replies.map(\.correlationID).sorted())
        #expect(Set(replies.map(\.correlationID)).count == 3)
        #expect(self.caller.statistics.replied == 3 && self.caller.statistics.inFlight == 0)
    }

    @Test(arguments: Place.allCases, ["app://now", "app://later", "app://far"])
    func `the error of a reply of another type has both types`(place: Place, url: String) async throws {
        let far = Probe(eventLoop: EventLoop())
        try self.bus.register("app://now") { _ in 1 }
        try self.bus.register("app://later") { _ -> Int in
            await Task.yield()
            return 1
        }
        try self.bus.register("app://far", on: far) { _, _ in 1 }
        let (bus, caller) = (self.bus, self.caller)
        let errors = await Self.run(place, bus) {
            [
                await failure { try await caller.route(url, as: String.self) },
                await failure { try await caller.route(url, parameters: ["a": 1], as: String.self) },
                await failure { try await caller.route(url).value(as: String.self) },
            ]
        }
        for error in errors {
            #expect(error?.code == .typeMismatch && error?.url == url)
            let message = error?.message ?? ""
            // JSON does not preserve the type of a number. Nodes of a cluster preserve it.
            let type = self.modules.place == .connector ? "JSON number" : "Int"
            #expect(message.contains("String") && message.contains(type))
        }
    }

    @Test(arguments: Place.allCases)
    func `headers and deadline of a call reach the handler`(place: Place) async throws {
        try self.bus.register("app://a") { message in
            #expect(message.headers == ["tenant": "7"] && message.deadline != nil)
            #expect(message.payload == nil && message.correlationID == nil)
        }
        try self.bus.register("app://plain") { #expect($0.headers.isEmpty && $0.deadline == nil) }
        let (bus, caller) = (self.bus, self.caller)
        try await Self.run(place, bus) {
            try await caller.route(
                "app://a",
                headers: ["tenant": "7"],
                deadline: .now + .seconds(60),
                as: Void.self
            )
            try await caller.route("app://plain", as: Void.self)
        }
    }

    @Test(arguments: Place.allCases)
    func `a task on the loop's thread that belongs to no actor can route`(
        place: Place
    ) async throws {
        let far = Probe(eventLoop: EventLoop())
        try self.bus.register("app://now") { _ in 1 }
        try self.bus.register("app://later") { _ -> Int in
            await Task.yield()
            return 1
        }
        try self.bus.register("app://far", on: far) { _, _ in 1 }
        let (bus, caller) = (self.bus, self.caller)
        let loop = place == .elsewhere ? far.eventLoop : bus.eventLoop
        let done = Journal<Int>()
        loop.execute {
            // The budget is exhausted, so the first call must let the loop poll.
            while loop.consumeDeliveryBudget() {}
            Task.immediate {
                for url in ["app://now", "app://later", "app://far", "app://now"] {
                    done.add((try? await caller.route(url, as: Int.self)) ?? 0)
                }
            }
        }
        #expect(await eventually { done.entries == [1, 1, 1, 1] })
    }
}
