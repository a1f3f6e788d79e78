import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)), .everyHost, .alsoElsewhere)
struct DeadlineTests {
    let modules = CalledModules.underTest()
    var bus: MessageBus { self.modules.bus }
    var caller: MessageBus { self.modules.caller }

    enum Kind: CaseIterable, Sendable { case suspended, deaf, blocked, far }

    /// A handler that blocks the loop of its caller necessarily blocks its caller too.
    static let slowHandlers: [(Kind, RouteTests.Place)] = Kind.allCases.flatMap { kind in
        RouteTests.Place.allCases.map { (kind, $0) }.filter { kind != .blocked || $0.1 != .home }
    }

    @Test(arguments: Self.slowHandlers)
    func `the caller resumes at the deadline, whatever the handler does`(
        kind: Kind,
        place: RouteTests.Place
    ) async throws {
        let never = Gate()
        let cancelled = Gate()
        let begun = Journal<Bool>()
        let far = Probe(eventLoop: EventLoop())
        switch kind {
        case .suspended:
            try self.bus.register("app://slow") { _ in
                begun.add(true)
                await withTaskCancellationHandler {
                    await cancelled.wait()
                } onCancel: {
                    cancelled.open()
                }
            }
        case .deaf: try self.bus.register("app://slow") { _ in await never.wait() }
        case .blocked: try self.bus.register("app://slow") { _ in never.block() }
        case .far: try self.bus.register("app://slow", on: far) { _, _ in never.block() }
        }
        let caller = self.caller
        let deadline = ContinuousClock.now + .milliseconds(20)
        async let lateness = lateness(after: deadline)
        let (error, late) = await RouteTests.run(place, caller) {
            let error = await failure { try await caller.route("app://slow", deadline: deadline) }
            return (error, deadline.duration(to: .now))
        }
        #expect(error?.code == .deadlineExceeded && error?.url == "app://slow")
        #expect(late >= .zero)
        #expect(late < .seconds(5) + (await lateness))
        #expect(caller.statistics.expired == 1 && caller.statistics.inFlight == 0)
        // On a busy machine the deadline may pass before the handler begins.
        if begun.count > 0 { await cancelled.wait() }
        never.open()
    }

    @Test(.inProcessOnly("the time that is left travels, and no instant"))
    func `a handler has its caller's deadline, and its own calls have the earlier of two`() async throws {
        let (bus, caller) = (self.bus, self.caller)
        try bus.register("app://inner") { $0.deadline }
        try bus.register("app://inner/later") { message -> ContinuousClock.Instant? in
            await Task.yield()
            return message.deadline
        }
        try bus.register("app://outer") { [weak bus] message -> [ContinuousClock.Instant?] in
            let wanted = message.parameters.call["inner"] as? ContinuousClock.Instant
            guard let bus else { return [] }
            return [
                message.deadline,
                try await bus.route("app://inner", deadline: wanted, as: ContinuousClock.Instant?.self),
                try await bus.route("app://inner/later", deadline: wanted, as: ContinuousClock.Instant?.self),
            ]
        }
        let soon = ContinuousClock.now + .seconds(60)
        let late = soon + .seconds(60)
        for (outer, inner, seen) in [(soon, late, soon), (late, soon, soon), (soon, nil, soon)] {
            let deadlines: [ContinuousClock.Instant?] = try await caller.route(
                "app://outer",
                parameters: inner.map { ["inner": $0] } ?? [:],
                deadline: outer
            )
            #expect(deadlines == [outer, seen, seen])
        }
    }

    @Test func `a passed deadline also ends the messages that the handler awaits`() async throws {
        let bus = self.bus
        let never = Gate()
        let begun = Tally()
        let inner = Journal<RoutingError.Code?>()
        try bus.register("app://inner") { _ in await never.wait() }
        try bus.register("app://outer") { [weak bus] _ in
            begun.add()
            inner.add(await failure { try await bus?.route("app://inner") }?.code)
        }
        let caller = self.caller
        // On a busy machine the deadline may pass before the handler begins, so call it again with more time.
        for limit in [Scale.whileQuick / 4, Scale.whileQuick, Scale.whileQuick * 2] where begun.count == 0 {
            // If the caller is on the loop, the handler begins at once.
            let error = await RouteTests.run(.home, caller) {
                await failure { try await caller.route("app://outer", deadline: .now + limit) }
            }
            #expect(error?.code == .deadlineExceeded)
        }
        #expect(await eventually { inner.count > 0 })
        #expect([.deadlineExceeded, .cancelled].contains(inner.entries.first))
        never.open()
        #expect(await caller.settles())
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `a message whose deadline has passed is not started`(place: RouteTests.Place) async throws {
        let heard = Journal<Int>()
        let far = Probe(eventLoop: EventLoop())
        try self.bus.register("app://now") { _ in heard.add(1) }
        try self.bus.register("app://later") { _ in
            heard.add(2)
            await Task.yield()
        }
        try self.bus.register("app://far", on: far) { _, _ in heard.add(3) }
        let caller = self.caller
        for url in ["app://now", "app://later", "app://far"] {
            let error = await RouteTests.run(place, caller) {
                await failure { try await caller.route(url, deadline: .now - .seconds(1)) }
            }
            #expect(error?.code == .deadlineExceeded)
        }
        #expect(heard.count == 0 && caller.statistics.expired == 3)
    }

    @Test(
        .inProcessOnly("a server counts the time that is left from when it has read the message"),
        arguments: [true, false]
    )
    func `a message whose deadline passes while it waits for its loop is not started`(
        isAsync: Bool
    ) async throws {
        let heard = Journal<Int>()
        let held = Gate()
        let begun = Gate()
        try self.bus.register("app://hold") { _ in
            begun.open()
            held.block()
        }
        if isAsync {
            try self.bus.register("app://a") { _ in
                heard.add(1)
                await Task.yield()
            }
        } else {
            try self.bus.register("app://a") { _ in heard.add(1) }
        }
        self.caller.send("app://hold")
        await begun.wait()
        let error = await failure {
            try await self.caller.route("app://a", deadline: .now + .milliseconds(10))
        }
        #expect(error?.code == .deadlineExceeded)
        held.open()
        await Probe(eventLoop: self.bus.eventLoop).run {}
        #expect(await self.caller.settles())
        #expect(heard.count == 0)
    }

    @Test func `a deadline in the far future does not expire`() async throws {
        try self.bus.register("app://a") { _ -> Int in
            await Task.yield()
            return 1
        }
        let value: Int = try await self.caller.route("app://a", deadline: .now + .seconds(1_000_000_000_000))
        #expect(value == 1)
    }

    @Test(.inProcessOnly("it makes a bus of its own"))
    func `thousands of deadlines at once each expire on time`() async throws {
        let bus = MessageBus(configuration: .roomy)
        let never = Gate()
        try bus.register("app://slow") { _ in await never.wait() }
        let count = Scale.of(2000)
        let deadline = ContinuousClock.now + .milliseconds(200)
        async let lateness = lateness(after: deadline)
        await withTaskGroup(of: RoutingError.Code?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    await failure { try await bus.route("app://slow", deadline: deadline) }?.code
                }
            }
            for await code in group { #expect(code == .deadlineExceeded) }
        }
        #expect(bus.statistics.expired == count && bus.statistics.inFlight == 0)
        #expect(deadline.duration(to: .now) < .seconds(20) + (await lateness))
        never.open()
    }

    @Test(arguments: [true, false], RouteTests.Place.allCases)
    func `the messages that a handler routes end at the handler's deadline`(
        isNow: Bool,
        place: RouteTests.Place
    ) async throws {
        // A short deadline may pass on a busy machine before all handlers have begun. The test then tries a
        // longer one.
        for wait in [Scale.whileQuick / 20, Scale.whileQuick / 2, Scale.whileQuick * 3]
        where try await self.endsInTime(after: wait, isNow: isNow, place: place) { return }
        Issue.record("no deadline was long enough for three handlers to begin")
    }

    /// Returns whether a handler and the two handlers to which it has sent messages have all begun before a
    /// deadline.
    ///
    /// The function then checks that they end with it.
    private func endsInTime(after wait: Duration, isNow: Bool, place: RouteTests.Place) async throws -> Bool {
        let bus = self.bus
        let before = bus.statistics
        let cancelled = [Gate(), Gate()]
        let deadlines = Journal<ContinuousClock.Instant?>()
        let far = Probe(eventLoop: EventLoop())
        let near = Probe(eventLoop: bus.eventLoop)
        let modules = [("app://near", near, cancelled[0]), ("app://far", far, cancelled[1])]
        var registrations: [Registration] = []
        defer { for registration in registrations { registration.cancel() } }
        for (url, module, cancelled) in modules {
            registrations += [
                try bus.register(url, on: module) { _, message in
                    deadlines.add(message.deadline)
                    await withTaskCancellationHandler {
                        await cancelled.wait()
                    } onCancel: {
                        cancelled.open()
                    }
                }
            ]
        }
        let forward: @Sendable (Message) -> Void = { [weak bus] _ in
            for url in ["app://near", "app://far"] { bus?.send(url) }
        }
        if isNow {
            registrations += [
                try bus.register("app://outer") { message in
                    deadlines.add(message.deadline)
                    forward(message)
                }
            ]
        } else {
            registrations += [
                try bus.register("app://outer") { message in
                    deadlines.add(message.deadline)
                    await Task.yield()
                    forward(message)
                }
            ]
        }
        let caller = self.caller
        let deadline = ContinuousClock.now + wait
        let error = await failure {
            try await RouteTests.run(place, caller) {
                try await caller.route("app://outer", deadline: deadline, as: Void.self)
            }
        }
        #expect(error == nil || error?.code == .deadlineExceeded)
        #expect(await bus.settles())
        guard deadlines.count == 3, error == nil else { return false }
        for gate in cancelled { await gate.wait() }
        #expect(ContinuousClock.now >= deadline)
        #expect(Set(deadlines.entries).count == 1)
        // On another bus the deadline is later by the time in transit.
        #expect(deadlines.entries.first.flatMap(\.self).map { $0 >= deadline } == true)
        if !self.modules.isConnected { #expect(deadlines.entries.first == deadline) }
        #expect(bus.statistics.replied == before.replied + 1)
        #expect(bus.statistics.deadLettered == before.deadLettered + 2)
        return true
    }

    @Test(
        .inProcessOnly("the time that is left is counted from the message's arrival"),
        arguments: ["app://now", "app://later"]
    )
    func `a handler's message whose deadline passes in the mailbox is not started`(url: String) async throws {
        let (bus, caller) = (self.bus, self.caller)
        let heard = Journal<Int>()
        let sent = Gate()
        let held = Gate()
        let far = Probe(eventLoop: EventLoop())
        try bus.register("app://hold", on: far) { _, _ in held.block() }
        try bus.register("app://now", on: far) { _, _ in heard.add(1) }
        try bus.register("app://later", on: far) { _, _ in
            heard.add(2)
            await Task.yield()
        }
        try bus.register("app://outer") { [weak bus] message in
            await Task.yield()
            bus?.send("app://hold")
            bus?.send(url)
            sent.open()
        }
        let deadline = ContinuousClock.now + Scale.whileQuick / 2
        try await caller.route("app://outer", deadline: deadline)
        await sent.wait()
        try await Task.sleep(until: deadline + .milliseconds(1))
        held.open()
        #expect(await caller.settles())
        #expect(heard.count == 0)
        #expect(caller.statistics.replied == 2 && caller.statistics.deadLettered == 1)
    }
}
