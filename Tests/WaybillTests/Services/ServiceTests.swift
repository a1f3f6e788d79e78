#if Macros

import Testing
import Waybill
import WaybillEventLoop
import WaybillTesting
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)))
struct ServiceTests {
    private let bus = MessageBus(configuration: .quiet)

    @Test
    func `a service is found by its protocol, and its calls are messages`() async throws {
        let module = try await self.bus.install { ClockModule() }.module
        let clock = try self.bus.service((any TimeService).self)
        #expect(try await clock.time(in: "Oslo") == "noon in Oslo, local")
        #expect(await module.calls == 1)
        #expect(try await self.bus.service((any Alarms).self).ring() == "ding")
        #expect(try await self.bus.route("app://time/time?city=Rome") == "noon in Rome, local")
        #expect(self.bus.statistics.replied == 3)
        let counts = self.bus.routeStatistics.first { $0.pattern == "app://time/time" }?.counts
        #expect(counts?.replied == 2)
    }

    @Test
    func `values, lists, optionals and closures arrive unchanged`() async throws {
        try await self.bus.install { ClockModule() }
        let clock = try self.bus.service((any TimeService).self)
        #expect(try await clock.add(1, to: [1, 2, 3], unless: 2) == [2, 4])
        #expect(try await clock.add(1, to: [], unless: nil) == [])
        #expect(try await clock.add(1, to: [7], unless: nil) == [8])
        #expect(try await clock.remind { $0 * 2 } == 41)
    }

    @Test
    func `a service call omits arguments that are nil, and its URL can have any length`() async throws {
        let path = String(repeating: "a", count: 200)
        for place in ["app://near", "app://\(path)"] {
            try self.bus.register("\(place)/say hello") { message in
                "\(message.parameters.call.keys.sorted()) \((try? message.argument("b") as Int) ?? 0)"
            }
            let endpoint = ServiceEndpoint(bus: self.bus, url: place)
            let given = try await endpoint.call("say hello", ["a": nil, "b": 1, "c": "x"], as: String.self)
            #expect(given == #"["b", "c"] 1"#)
            #expect(try await endpoint.call("say hello", ["b": 1, "b": 2], as: String.self) == #"["b"] 2"#)
        }
    }

    @Test
    func `the caller of a service catches the error of the provider`() async throws {
        try await self.bus.install { ClockModule() }
        let clock = try self.bus.service((any TimeService).self)
        await #expect(throws: Broken.spring) { try await clock.fail() }
        self.bus.use(Doing { _ in throw RoutingError.refused("not today") })
        let error = await failure { try await clock.time(in: "Oslo") }
        #expect(error?.code == .refused)
    }

    @Test
    func `middlewares and traces see the calls of a service`() async throws {
        try await self.bus.install { ClockModule() }
        let journal = Journal<String>()
        self.bus.use(Noting(name: "note", journal: journal))
        _ = try await self.bus.service((any TimeService).self).time(in: "Oslo")
        #expect(journal.entries == ["note time/time", "note done"])
    }

    @Test
    func `the error of a protocol without a provider lists the provided protocols`() async throws {
        let none = await failure { try self.bus.service((any TimeService).self) }
        #expect(none?.code == .noHandler)
        let remedy = "`TimeService`; install a module that conforms to it (the bus has no"
        #expect(none?.message.contains(remedy) == true)
        try await self.bus.install(named: "utc") { ClockModule() }
        let error = await failure { try self.bus.service((any TimeService).self) }
        #expect(error?.message.contains("services `Alarms named utc`, `TimeService named utc`") == true)
    }

    @Test
    func `several modules can provide one protocol by name`() async throws {
        try await self.bus.install { ClockModule() }
        try await self.bus.install(named: "utc") { ClockModule(zone: "UTC") }
        try await self.bus.install(named: "a/b :c") { ClockModule(zone: "odd") }
        let bus = self.bus
        func time(_ name: String?) async throws -> String {
            try await bus.service((any TimeService).self, named: name).time(in: "Oslo")
        }
        #expect(try await time(nil) == "noon in Oslo, local")
        #expect(try await time("utc") == "noon in Oslo, UTC")
        #expect(try await time("a/b :c") == "noon in Oslo, odd")
        #expect(try await self.bus.route("app://time/utc/time?city=Bonn") == "noon in Bonn, UTC")
        #expect(self.bus.validate().isEmpty)
    }

    @Test
    func `a second provider of the same name is a conflict that changes nothing`() async throws {
        try await self.bus.install { ClockModule() }
        let error = await failure { try await self.bus.install { ClockModule(zone: "second") } }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("ServiceTests.swift") == true)
        #expect(try await self.bus.service((any TimeService).self).time(in: "Oslo") == "noon in Oslo, local")
    }

    @Test
    func `a module whose routes are in conflict provides no service`() async throws {
        try self.bus.register("app://time/time") { _ in "mine" }
        let error = await failure { try await self.bus.install { ClockModule() } }
        #expect(error?.code == .conflict)
        #expect(await failure { try self.bus.service((any Alarms).self) }?.code == .noHandler)
    }

    @Test
    func `uninstalling a module removes its service, and a kept proxy fails`() async throws {
        let installation = try await self.bus.install { ClockModule() }
        let clock = try self.bus.service((any TimeService).self)
        installation.cancel()
        #expect(await failure { try self.bus.service((any TimeService).self) }?.code == .noHandler)
        let error = await failure { try await clock.time(in: "Oslo") }
        #expect(error?.code == .noRoute)
        #expect(
            error?.message
                == "no module provides the service at app://time: it was never installed, or was uninstalled"
        )
        try await self.bus.install { ClockModule(zone: "new") }
        installation.cancel()
        #expect(try await clock.time(in: "Oslo") == "noon in Oslo, new")
    }

    @Test
    func `a waiting caller of a service fails at once when its module is removed`() async throws {
        let installation = try await self.bus.install { ClockModule() }
        let clock = try self.bus.service((any TimeService).self)
        async let waiting = failure { try await clock.wait() }
        await installation.module.waiting.wait()
        installation.cancel()
        #expect(await waiting?.code == .noHandler)
    }

    @Test
    func `a bus that is shut down has no services`() async throws {
        try await self.bus.install { ClockModule() }
        let clock = try self.bus.service((any TimeService).self)
        await self.bus.shutDown(drainingUntil: .now)
        #expect(await failure { try self.bus.service((any TimeService).self) }?.code == .shutDown)
        #expect(await failure { try await clock.time(in: "Oslo") } != nil)
    }

    @Test
    func `a service call runs on the loop of its provider`() async throws {
        let loops = [EventLoop(name: "one"), EventLoop(name: "two")]
        let bus = MessageBus(eventLoops: loops)
        try await bus.install(instances: .perLoop) { ClockModule() }
        for loop in loops {
            let caller = Probe(eventLoop: loop)
            let name = try await caller.run { try await bus.service((any TimeService).self).loop() }
            #expect(name == loop.name)
        }
    }

    @Test
    func `cancelling the caller of a service cancels the provider`() async throws {
        let module = try await self.bus.install { ClockModule() }.module
        let clock = try self.bus.service((any TimeService).self)
        let caller = Task { try await clock.wait() }
        await module.waiting.wait()
        caller.cancel()
        #expect(await failure { try await caller.value }?.code == .cancelled)
        await module.cancelled.wait()
    }

    @Test
    func `a service call ends at its timeout, or at the deadline of its caller`() async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        let module = try await bus.install { ClockModule() }.module
        let hasty = try bus.service((any TimeService).self, timeout: .milliseconds(20))
        async let late = failure { try await hasty.wait() }
        await module.waiting.wait()
        await clock.advance(by: .milliseconds(20))
        #expect(await late?.code == .deadlineExceeded)
        await module.cancelled.wait()
        let patient = try bus.service((any TimeService).self)
        try bus.register("app://caller") { _ in try await patient.wait() }
        async let error = failure {
            try await bus.route("app://caller", deadline: clock.now + .milliseconds(20))
        }
        #expect(await eventually { bus.statistics.inFlight == 2 })
        await clock.advance(by: .milliseconds(20))
        #expect(await error?.code == .deadlineExceeded)
        #expect(await eventually { bus.statistics.inFlight == 0 })
    }

    @Test
    func `a service whose provider is in another process is reached by its URL`() async throws {
        try self.bus.connect(
            "elsewhere",
            to: StubConnector { "\($0.address.text) \($0.parameters["city"] ?? "-")" }
        )
        let registration = try self.bus.provide((any TimeService).self, at: "elsewhere://time") {
            TimeServiceProxy($0)
        }
        let clock = try self.bus.service((any TimeService).self)
        #expect(try await clock.time(in: "Oslo") == "elsewhere://time/time Oslo")
        #expect(registration.pattern == "TimeService")
        registration.cancel()
        #expect(await failure { try self.bus.service((any TimeService).self) }?.code == .noHandler)
    }

    @Test
    func `services are found from any thread while modules are installed and removed`() async throws {
        let bus = self.bus
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<4 {
                group.addTask {
                    for round in 0..<50 {
                        let name = "\(number)"
                        let installation = try await bus.install(named: name) { AlarmModule() }
                        let alarms = try bus.service((any Alarms).self, named: name)
                        #expect(try await alarms.ring() == "ding", "round \(round)")
                        installation.cancel()
                        #expect(await failure { try await alarms.ring() }?.code == .noRoute)
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(bus.routes.isEmpty)
    }
}

@Module("app://alarms")
private actor AlarmModule: Alarms {
    func ring() -> String { "ding" }
}

#endif
