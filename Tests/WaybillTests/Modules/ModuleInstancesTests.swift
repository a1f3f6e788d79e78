import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite
struct ModuleInstancesTests {
    private let loops = [EventLoop(name: "one"), EventLoop(name: "two")]

    @Test
    func `a caller on a loop is served by the module's instance on that loop, without a hop`() async throws {
        let bus = MessageBus(eventLoops: self.loops)
        let modules = try await bus.install(instances: .perLoop) { Tally() }.modules
        #expect(modules.map(\.eventLoop.name) == ["one", "two"])
        for loop in self.loops {
            let caller = Caller(eventLoop: loop)
            let turns = try await caller.count(on: bus, times: 5)
            #expect(turns == 0)
        }
        #expect(await modules[0].counted == 5)
        #expect(await modules[1].counted == 5)
        #expect(bus.routeStatistics.first?.counts.replied == 10)
    }

    @Test
    func `the load of a route with several instances has the limits of all mailboxes`() async throws {
        let bus = MessageBus(eventLoops: self.loops)
        try await bus.install(instances: .perLoop) { Tally() }
        let limits = Set(bus.routeLoads.map(\.limit))
        #expect(limits == [2 * bus.configuration.mailboxLimit])
    }

    @Test
    func `callers outside of the loops use the module's instances in turn`() async throws {
        let bus = MessageBus(eventLoops: self.loops)
        let modules = try await bus.install(instances: .perLoop) { Tally() }.modules
        for _ in 0..<10 { try await bus.route("app://tally/count") }
        #expect(await modules[0].counted == 5)
        #expect(await modules[1].counted == 5)
    }

    /// A key whose text the program finds with the bus.
    private struct Key: Sendable, CustomStringConvertible {
        let bus: MessageBus
        var description: String { self.bus.canRoute("app://tally/place") ? "7" : "8" }
    }

    @Test(.timeLimit(.minutes(1)))
    func `the description of a key can use the bus`() async throws {
        let bus = MessageBus(eventLoops: self.loops)
        try await bus.install(instances: .keyed(by: "user")) { Tally() }
        // The bus reads a large table that has just changed under its lock.
        for number in 0..<600 { try bus.register("app://other/\(number)") { _ in } }
        let place: String = try await bus.route("app://tally/place", parameters: ["user": Key(bus: bus)])
        #expect(try await bus.route("app://tally/place?user=7") == place)
    }

    @Test
    func `messages with the same key reach the same instance, whoever sends them`() async throws {
        let bus = MessageBus(eventLoops: self.loops)
        let modules = try await bus.install(instances: .keyed(by: "user")) { Tally() }.modules
        for user in 0..<20 {
            let name: String = try await bus.route("app://tally/place?user=\(user)")
            for loop in self.loops {
                let caller = Caller(eventLoop: loop)
                #expect(try await caller.place(of: user, on: bus) == name)
            }
            bus.send("app://tally/note?user=\(user)")
            for key: any Sendable in [user, "\(user)", Optional(user), Optional(Optional(user))] {
                let place: String = try await bus.route("app://tally/place", parameters: ["user": key])
                #expect(place == name)
            }
        }
        let nobody: String = try await bus.route("app://tally/place", parameters: ["user": Int?.none])
        #expect(try await bus.route("app://tally/place") == nobody)
        for module in modules {
            // Sent messages are handled before later calls.
            let noted = await module.noted
            #expect(!noted.isEmpty)
            for user in noted {
                #expect(try await bus.route("app://tally/place?user=\(user)") == module.eventLoop.name)
            }
        }
    }

    @Test
    func `cancelling the installation removes all instances of a module`() async throws {
        let bus = MessageBus(eventLoops: self.loops)
        let installation = try await bus.install(instances: .perLoop) { Tally() }
        let waiting = Task.immediate { try await bus.route("app://tally/wait") }
        installation.cancel()
        let error = await #expect(throws: RoutingError.self) { try await waiting.value }
        #expect(error?.code == .noHandler)
        #expect(!bus.canRoute("app://tally/count"))
        #expect(bus.routes.isEmpty)
    }

    @Test
    func `a loop that shuts down removes only its own instance of a module`() async throws {
        let bus = MessageBus(eventLoops: self.loops)
        try await bus.install(instances: .perLoop) { Tally() }
        await self.loops[1].shutDown()
        #expect(bus.canRoute("app://tally/count"))
        try await Caller(eventLoop: self.loops[0]).route("app://tally/count", on: bus)
        for _ in 0..<4 { try await bus.route("app://tally/count") }
    }
}

private actor Tally: Module {
    static let url = "app://tally"
    nonisolated let context = ModuleContext.current
    var counted = 0
    var noted: [String] = []

    static var routes: [ModuleRoute<Tally>] {
        [
            ModuleRoute("app://tally/count", action: "count") { tally, _ in tally.counted += 1 },
            ModuleRoute("app://tally/place", action: "place") { tally, _ in tally.eventLoop.name },
            ModuleRoute("app://tally/note", action: "note") { tally, message in
                tally.noted.append(try message.argument("user"))
            },
            ModuleRoute("app://tally/wait", action: "wait") { _, _ in
                try await Task.sleep(for: .seconds(60))
            },
        ]
    }
}

private actor Caller: LoopBound {
    nonisolated let eventLoop: EventLoop
    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    /// Routes a URL, and returns the number of jobs that the loop has run meanwhile.
    func count(on bus: MessageBus, times: Int) async throws -> Int {
        let before = self.eventLoop.statistics.jobsRun
        for _ in 0..<times { try await bus.route("app://tally/count") }
        return self.eventLoop.statistics.jobsRun - before
    }

    func place(of user: Int, on bus: MessageBus) async throws -> String {
        try await bus.route("app://tally/place?user=\(user)")
    }

    func route(_ url: String, on bus: MessageBus) async throws { try await bus.route(url) }
}
