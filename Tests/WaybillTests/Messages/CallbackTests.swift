import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport
import WaybillTesting

@Suite(.timeLimit(.minutes(1)), .alsoElsewhere)
struct CallbackTests {
    let modules = CalledModules.underTest()
    var bus: MessageBus { self.modules.bus }
    var caller: MessageBus { self.modules.caller }

    @Test(arguments: RouteTests.Place.allCases)
    func `progress replies arrive in order, and their answers return to the handler`(
        place: RouteTests.Place
    ) async throws {
        try self.bus.register("app://upload") { message -> [Int] in
            var answers: [Int] = []
            for part in 1...20 { answers.append(try await message.reply(with: part, expecting: Int.self)) }
            return answers
        }
        let caller = self.caller
        let (seen, answers) = try await RouteTests.run(place, caller) {
            var seen: [Int] = []
            let answers: [Int] = try await caller.route("app://upload") { (part: Int) -> Int in
                seen.append(part)
                return part * 10
            }
            return (seen, answers)
        }
        #expect(seen == Array(1...20))
        #expect(answers == seen.map { $0 * 10 })
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `a caller that needs no value receives the reply without naming a type`(
        place: RouteTests.Place
    ) async throws {
        try self.bus.register("app://upload") { message -> String in
            for part in 1...3 { await message.reply(with: part) }
            return "done"
        }
        let caller = self.caller
        let seen = Journal<Int>()
        try await RouteTests.run(place, caller) {
            try await caller.route("app://upload") { (part: Int) in seen.add(part) }
            let reply = try await caller.route("app://upload", timeout: .seconds(60)) { (part: Int) in
                seen.add(part)
                return part
            }
            #expect(reply.isLast && reply.url == "app://upload")
            #expect(try reply.value(as: String.self) == "done")
        }
        #expect(seen.entries == [1, 2, 3, 1, 2, 3])
        let typed: String = try await caller.route("app://upload") { (_: Int) in }
        let named = try await caller.route("app://upload", as: String.self) { (_: Int) in }
        let reply: Reply = try await caller.route("app://upload") { (_: Int) in }
        #expect(typed == "done" && named == "done" && reply.value as? String == "done")
    }

    @Test func `a reply of a handler that fails is thrown, whatever type the caller asks for`() async throws {
        try self.bus.register("app://upload") { message in
            await message.reply(with: 1)
            throw RoutingError.refused("enough")
        }
        let error = await failure { try await self.caller.route("app://upload") { (_: Int) in } }
        #expect(error?.code == .refused)
    }

    @MainActor @Test func `the closure for progress replies runs where the caller is isolated`() async throws
    {
        let far = Probe(eventLoop: EventLoop())
        try self.bus.register("app://upload", on: far) { _, message in
            for part in 1...5 { await message.reply(with: part) }
        }
        var sum = 0
        let _: Void = try await self.caller.route("app://upload") { (part: Int) in
            MainActor.assertIsolated()
            await Task.yield()
            MainActor.assertIsolated()
            sum += part
        }
        MainActor.assertIsolated()
        #expect(sum == 15)
    }

    @Test func `an actor's closure for progress replies can change the actor's state`() async throws {
        let probe = Probe(eventLoop: EventLoop())
        try self.bus.register("app://upload") { message in
            for part in 1...5 { await message.reply(with: part) }
        }
        let caller = self.caller
        try await probe.act { probe in
            let _: Void = try await caller.route("app://upload") { (part: Int) in
                probe.hear(part)
            }
            probe.eventLoop.preconditionInEventLoop()
        }
        #expect(await probe.heard == Array(1...5))
    }

    @Test func `a handler waits until its progress reply has been processed`() async throws {
        let journal = Journal<String>()
        try self.bus.register("app://upload") { message in
            for part in 1...3 {
                journal.add("before \(part)")
                let isHeard = await message.reply(with: part)
                journal.add("after \(part) \(isHeard)")
            }
        }
        let _: Void = try await self.caller.route("app://upload") { (part: Int) in
            await Task.yield()
            journal.add("caller \(part)")
        }
        #expect(
            journal.entries == (1...3).flatMap { ["before \($0)", "caller \($0)", "after \($0) true"] }
        )
    }

    @Test func `a progress reply tells the handler that no caller listens`() async throws {
        try self.bus.register("app://upload") { message -> String in
            let isHeard = await message.reply(with: 1)
            let error = await failure { try await message.reply(with: 1, expecting: Int.self) }
            return "\(isHeard) \(error?.code ?? .shutDown)"
        }
        #expect(try await self.caller.route("app://upload", as: String.self) == "false noHandler")
        let journal = Journal<Bool>()
        try self.bus.register("app://sent") { message in
            let isHeard = await message.reply(with: 1)
            journal.add(isHeard)
        }
        self.caller.send("app://sent")
        #expect(await eventually { journal.entries == [false] })
    }

    @Test(
        .inProcessOnly("a failure has its code there, and the sentence names no types"),
        arguments: ["app://upload", "upload", "APP:///upload/"]
    )
    func `a reply or an answer of another type fails with both types`(url: String) async throws {
        try self.bus.register("app://upload") { message -> [RoutingError?] in
            [
                await failure { try await message.reply(with: "text", expecting: Int.self) },
                await failure { try await message.reply(with: 1, expecting: Bool.self) },
            ]
        }
        let errors: [RoutingError?] = try await self.caller.route(url) { (part: Int) in part }
        #expect(errors.map { $0?.code } == [.typeMismatch, .typeMismatch])
        #expect(
            "\(errors[0]?.message ?? "")".contains("String") && "\(errors[1]?.message ?? "")".contains("Bool")
        )
        #expect(errors.allSatisfy { "\($0?.message ?? "")".contains("Int") })
    }

    @Test(.inProcessOnly("it makes a bus of its own"))
    func `the messages of a caller's closure end with the answered message`() async throws {
        let clock = ManualClock()
        let bus = MessageBus(clock: clock, configuration: .quiet)
        let (begun, held) = (Gate(), Gate())
        try bus.register("app://upload") { message in
            try await message.reply(with: 1, expecting: Int.self)
        }
        try bus.register("app://hangs") { _ -> Int in
            begun.open()
            await held.wait()
            return 1
        }
        async let error = failure {
            let deadline = clock.now + .milliseconds(20)
            let _: Int = try await bus.route("app://upload", deadline: deadline) { (_: Int) in
                try await bus.route("app://hangs", as: Int.self)
            }
        }
        await begun.wait()
        await clock.advance(by: .milliseconds(20))
        #expect(await error?.code == .deadlineExceeded)
        #expect(bus.statistics.expired == 2)
        held.open()
    }

    @Test func `a caller and a handler that call each other endlessly end at the hop limit`() async throws {
        try self.bus.register("app://upload") { message in
            try await message.reply(with: 1, expecting: Int.self)
        }
        let caller = self.caller
        @Sendable func ask() async throws -> Int {
            try await caller.route("app://upload") { (_: Int) in try await ask() }
        }
        var cause: (any Error)? = await failure { try await ask() }
        var last: RoutingError?
        while let inner = cause as? RoutingError { (last, cause) = (inner, inner.cause) }
        // Another process does not receive causes. There the failure is that the caller's closure threw.
        #expect(last?.code == (self.modules.isConnected ? .refused : .hopLimitExceeded))
        #expect(await caller.settles())
    }

    @Test(.inProcessOnly("a failure has its code there, and no cause"))
    func `an error of the caller's closure is thrown to the handler`() async throws {
        struct Refusal: Error {}
        try self.bus.register("app://upload") { message -> RoutingError? in
            await failure { try await message.reply(with: 1, expecting: Int.self) }
        }
        let error: RoutingError? = try await self.caller.route("app://upload") { (_: Int) -> Int in
            throw Refusal()
        }
        #expect(error?.code == .refused && error?.cause is Refusal)
    }

    @Test func `a caller that is cancelled in its closure resumes the handler`() async throws {
        let freed = Gate()
        try self.bus.register("app://upload") { message in
            while await message.reply(with: 1) {}
            freed.open()
        }
        let task = Task { [caller] in
            await failure {
                let _: Void = try await caller.route("app://upload") { (_: Int) in
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                }
            }
        }
        #expect(await task.value?.code == .cancelled)
        await freed.wait()
    }

    @Test func `a message kept after its last reply can send no progress reply`() async throws {
        let kept = Journal<Message>()
        try self.bus.register("app://a") { message in
            await Task.yield()
            kept.add(message)
        }
        let _: Void = try await self.caller.route("app://a") { (_: Int) in }
        #expect(await kept.entries[0].reply(with: 1) == false)
    }

    @Test func `a handler that replies from several tasks is answered in each`() async throws {
        try self.bus.register("app://upload") { message -> Int in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for part in 1...10 {
                    group.addTask { try await message.reply(with: part, expecting: Int.self) }
                }
                return try await group.reduce(0, +)
            }
        }
        let sum: Int = try await self.caller.route("app://upload") { (part: Int) in part }
        #expect(sum == 55)
    }

    @Test(
        .inProcessOnly("the caller's bus counts the reply when the closure has returned"),
        arguments: RouteTests.Place.allCases
    )
    func `a handler that cancels its progress reply continues`(place: RouteTests.Place) async throws {
        let (given, held) = (Gate(), Gate())
        try self.bus.register("app://upload") { message -> Bool in
            let reply = Task { await message.reply(with: 1) }
            await given.wait()
            reply.cancel()
            return await reply.value
        }
        let caller = self.caller
        let isHeard = try await RouteTests.run(place, caller) {
            try await caller.route("app://upload", as: Bool.self) { (_: Int) in
                given.open()
                // The handler continues before this closure ends.
                while caller.statistics.replied == 0 { await Task.yield() }
                held.open()
            }
        }
        await held.wait()
        #expect(!isHeard)
    }

    /// The closures that cannot handle a progress reply.
    enum Misfit: CaseIterable, Sendable { case otherType, throwing }

    @Test(.inProcessOnly("it makes a bus of its own"), arguments: Misfit.allCases)
    func `the failure of a caller's closure is reported`(misfit: Misfit) async throws {
        struct Refusal: Error {}
        let logged = Journal<String>()
        let bus = MessageBus(configuration: .logging(to: logged))
        let heard = Journal<Bool>()
        try bus.register("app://upload") { message -> String in
            heard.add(await message.reply(with: 7))
            return "done"
        }
        let error = await failure {
            switch misfit {
            case .otherType: try await bus.route("app://upload", as: String.self) { (_: String) in }
            case .throwing:
                try await bus.route("app://upload", as: String.self) { (_: Int) in throw Refusal() }
            }
        }
        #expect(heard.entries == [false])
        #expect(error?.code == (misfit == .throwing ? .refused : .typeMismatch))
        #expect((error?.cause is Refusal) == (misfit == .throwing))
        #expect(logged.entries.count { $0.hasPrefix("progress reply rejected") } == 1)
        #expect(await bus.settles())
        #expect(bus.statistics.replied == 1)
    }

    @Test func `typed progress replies reach the caller's closure, and their answers the handler`()
        async throws
    {
        try self.bus.register("app://upload") { message -> [Bool] in
            let progress = ProgressReplies<Int, Bool>(to: message)
            return [try await progress.ask(1), try await progress.ask(2)]
        }
        let answers: [Bool] = try await self.caller.route("app://upload") { (update: Int) in update == 2 }
        #expect(answers == [false, true])
        let unheard = await failure { try await self.caller.route("app://upload") }
        #expect(unheard?.code == .noHandler)
        let wrong = await failure { try await self.caller.route("app://upload") { (_: Int) in "yes" } }
        #expect(wrong?.code == .typeMismatch)
    }

    @Test func `a handler without answers knows whether the caller listens`() async throws {
        try self.bus.register("app://upload") { message -> Bool in
            await ProgressReplies<Int, Void>(to: message).send(7)
        }
        #expect(try await self.caller.route("app://upload", as: Bool.self) { (_: Int) in })
        #expect(try await self.caller.route("app://upload", as: Bool.self) == false)
    }

    @Test func `a handler can catch the failure of a caller's closure`() async throws {
        struct Refusal: Error {}
        try self.bus.register("app://upload") { message -> String in
            (try? await message.reply(with: 7, expecting: Int.self)).map { "\($0)" } ?? "refused"
        }
        let value: String = try await self.caller.route("app://upload") { (_: Int) -> Int in throw Refusal() }
        #expect(value == "refused")
    }
}
