import Testing
import Waybill
import WaybillTestSupport

@testable import WaybillEventLoop

/// The executors of code: a handler runs on its loop, and its caller returns to its own executor.
@Suite(.timeLimit(.minutes(1)))
struct ExecutionTests {
    let bus = MessageBus(configuration: .quiet)
    let far = Probe(eventLoop: EventLoop(name: "far"))

    /// Registers a handler of each kind.
    ///
    /// Each reports for each of its steps whether it was on its loop.
    private func register() throws {
        let home = self.bus.eventLoop
        try self.bus.register("app://now") { _ in [home.isInEventLoop] }
        try self.bus.register("app://later") { message -> [Bool] in
            var steps = [home.isInEventLoop]
            await Task.yield()
            steps.append(home.isInEventLoop)
            await message.reply(with: 1)
            steps.append(home.isInEventLoop)
            try await Task.sleep(for: .milliseconds(1))
            steps.append(home.isInEventLoop)
            await MainActor.run {}
            steps.append(home.isInEventLoop)
            return steps
        }
        try self.bus.register("app://far/now", on: self.far) { far, _ in [far.eventLoop.isInEventLoop] }
        try self.bus.register("app://far/later", on: self.far) { far, message -> [Bool] in
            var steps = [far.eventLoop.isInEventLoop]
            await Task.yield()
            steps.append(far.eventLoop.isInEventLoop)
            await message.reply(with: 1)
            steps.append(far.eventLoop.isInEventLoop)
            return steps
        }
        try self.bus.register("app://near/later", on: Probe(eventLoop: home)) { near, _ -> [Bool] in
            var steps = [near.eventLoop.isInEventLoop]
            await Task.yield()
            steps.append(near.eventLoop.isInEventLoop)
            return steps
        }
    }

    enum Request { @TaskLocal static var name = "nobody" }

    @Test(arguments: [false, true])
    func `a sent message does not inherit from the task that drains the mailbox`(isSerial: Bool) async throws
    {
        let bus = self.bus
        let module = Probe(eventLoop: bus.eventLoop)
        try bus.configureMailbox(of: module, .init(isSerial: isSerial))
        let heard = Journal<String>()
        let (begun, held) = (Gate(), Gate())
        try bus.register("app://note", on: module) { _, _ in heard.add("\(Request.name) \(Task.isCancelled)")
        }
        try bus.register("app://note/later", on: module) { _, _ async in
            heard.add("\(Request.name) \(Task.isCancelled)")
        }
        try bus.register("app://get", on: module) { _, _ in }
        try bus.register("app://hold", on: module) { _, _ in
            begun.open()
            await held.wait()
        }
        // The message is drained first by a task that ends, and then by a task that begins.
        let ending = Task {
            await Request.$name.withValue("ending") { await failure { try await bus.route("app://hold") } }
        }
        await begun.wait()
        bus.send("app://note")
        bus.send("app://note/later")
        ending.cancel()
        _ = await ending.value
        held.open()
        let caller = Probe(eventLoop: bus.eventLoop)
        await Request.$name.withValue("coming") {
            await caller.run {
                bus.send("app://note")
                bus.send("app://note/later")
                _ = await failure { try await bus.route("app://get") }
            }
        }
        #expect(await bus.settles())
        #expect(heard.entries == Array(repeating: "nobody false", count: 4))
    }

    @Test(arguments: [false, true])
    func `a caller and a handler on one loop need no other thread`(isSerial: Bool) async throws {
        let bus = self.bus
        let near = Probe(eventLoop: bus.eventLoop)
        try bus.configureMailbox(of: near, .init(isSerial: isSerial))
        try bus.register("app://talk", on: near) { near, message in
            var sum = 0
            for number in 0..<100 { sum += try await message.reply(with: number, expecting: Int.self) }
            return near.hear(sum)
        }
        let caller = Probe(eventLoop: bus.eventLoop)
        let pushes = try await caller.act { caller in
            let before = caller.eventLoop.core.inbox.pushCount
            let sum: Int = try await bus.route("app://talk") { (number: Int) in
                caller.eventLoop.preconditionInEventLoop()
                return number
            }
            #expect(sum == 4_950)
            return caller.eventLoop.core.inbox.pushCount - before
        }
        #expect(pushes == 0)
    }

    static let urls = ["app://now", "app://later", "app://far/now", "app://far/later", "app://near/later"]

    @Test(arguments: RouteTests.Place.allCases, ExecutionTests.urls)
    func `a handler is on its loop, before and after it suspends`(
        place: RouteTests.Place,
        url: String
    ) async throws {
        try self.register()
        let bus = self.bus
        let steps = try await RouteTests.run(place, bus) {
            let plain = try await bus.route(url, as: [Bool].self)
            let late = try await bus.route(url, deadline: .now + .seconds(60), as: [Bool].self)
            let called: [Bool] = try await bus.route(url) { (_: Int) in }
            return plain + late + called
        }
        #expect(steps.allSatisfy { $0 }, "\(steps)")
    }

    @Test(arguments: RouteTests.Place.allCases)
    func `a handler closure with a capture list stays on the loop`(
        place: RouteTests.Place
    ) async throws {
        let home = self.bus.eventLoop
        try self.bus.register("app://captures") { [weak bus] message -> [Bool] in
            var steps = [home.isInEventLoop && bus != nil]
            await Task.yield()
            steps.append(home.isInEventLoop)
            await message.reply(with: 1)
            steps.append(home.isInEventLoop)
            return steps
        }
        let bus = self.bus
        let steps = try await RouteTests.run(place, bus) {
            try await bus.route("app://captures", as: [Bool].self)
        }
        #expect(steps == [true, true, true])
    }

    @Test(arguments: ExecutionTests.urls)
    func `a message that no caller awaits is handled on its loop`(url: String) async throws {
        try self.register()
        let seen = Journal<Bool>()
        try self.bus.register("app://seen") { seen.add(try $0.payload(as: [Bool].self).allSatisfy { $0 }) }
        self.bus.send("\(url)#seen")
        #expect(await eventually { seen.entries == [true] })
    }

    @Test(arguments: ExecutionTests.urls)
    @MainActor func `a caller on the main actor returns to it after each call`(url: String) async throws {
        try self.register()
        _ = try await self.bus.route(url)
        MainActor.assertIsolated()
        _ = try await self.bus.route(url, as: [Bool].self)
        MainActor.assertIsolated()
        _ = try await self.bus.route(url, deadline: .now + .seconds(60))
        MainActor.assertIsolated()
        for try await _ in self.bus.replies(to: url) { MainActor.assertIsolated() }
        MainActor.assertIsolated()
        _ = await failure { try await self.bus.route("app://nobody") }
        MainActor.assertIsolated()
        try await self.bus.publish(url)
        MainActor.assertIsolated()
    }

    @Test(arguments: ExecutionTests.urls, [true, false])
    func `a module returns to its loop after each call`(url: String, isHome: Bool) async throws {
        try self.register()
        let module = Probe(eventLoop: isHome ? self.bus.eventLoop : EventLoop(name: "third"))
        let bus = self.bus
        try await module.act { module in
            let loop = module.eventLoop
            _ = try await bus.route(url)
            loop.preconditionInEventLoop()
            _ = try await bus.route(url, as: [Bool].self)
            loop.preconditionInEventLoop()
            _ = try await bus.route(url, deadline: .now + .seconds(60))
            loop.preconditionInEventLoop()
            for try await _ in bus.replies(to: url) { loop.preconditionInEventLoop() }
            loop.preconditionInEventLoop()
            _ = await failure { try await bus.route("app://nobody") }
            loop.preconditionInEventLoop()
        }
    }

    @Test func `an actor with its own executor returns to it after each call`() async throws {
        actor Plain {
            var count = 0
            func ask(_ bus: MessageBus, _ url: String) async throws {
                _ = try await bus.route(url)
                self.assertIsolated()
                for try await _ in bus.replies(to: url) { self.count += 1 }
                self.assertIsolated()
            }
        }
        try self.register()
        let plain = Plain()
        for url in Self.urls { try await plain.ask(self.bus, url) }
        #expect(await plain.count >= Self.urls.count)
    }

    @Test func `on one loop a handler that can suspend begins at once, on the same thread`()
        async throws
    {
        let journal = Journal<String>()
        let threads = Journal<UInt>()
        let home = self.bus.eventLoop
        try self.bus.register("app://later") { message in
            threads.add(currentThread())
            journal.add("begins")
            if message.parameters["rest"] != nil { await Task.yield() }
            threads.add(currentThread())
            journal.add("ends")
        }
        let bus = self.bus
        await Probe(eventLoop: home).run {
            threads.add(currentThread())
            home.execute { journal.add("turn") }
            _ = await failure { try await bus.route("app://later") }
            threads.add(currentThread())
            _ = await failure { try await bus.route("app://later?rest=1") }
            threads.add(currentThread())
        }
        #expect(journal.entries.prefix(2) == ["begins", "ends"])
        #expect(journal.entries.filter { $0 != "turn" } == ["begins", "ends", "begins", "ends"])
        #expect(Set(threads.entries).count == 1 && threads.count == 7)
    }

    @Test(
        arguments: RouteTests.Place.allCases,
        ["app://now", "app://later", "app://far/now", "app://far/later"]
    )
    func `task-local values reach the handler`(place: RouteTests.Place, url: String) async throws {
        try self.bus.register("app://now") { _ in Context.name }
        try self.bus.register("app://later") { _ -> String in
            await Task.yield()
            return Context.name
        }
        try self.bus.register("app://far/now", on: self.far) { _, _ in Context.name }
        try self.bus.register("app://far/later", on: self.far) { _, _ -> String in
            await Task.yield()
            return Context.name
        }
        let bus = self.bus
        let names = try await RouteTests.run(place, bus) {
            try await Context.$name.withValue("trace") {
                [
                    try await bus.route(url, as: String.self),
                    try await bus.route(url, deadline: .now + .seconds(60), as: String.self),
                ]
            }
        }
        #expect(names == ["trace", "trace"])
    }
}
