import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

/// A timer of a millisecond fires on time, whatever messages the modules of its loop exchange.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct FairnessTests {
    let loop = EventLoop(name: "fair")
    let bus: MessageBus

    init() { self.bus = MessageBus(eventLoop: self.loop, configuration: .quiet) }

    /// Returns the shortest of several waits for a timer of a millisecond on a loop.
    ///
    /// A starved loop delays each of the timers. A loop that shares the processor with other tests fires at
    /// least one on time.
    private func shortestDelay(on loop: EventLoop) async -> Duration {
        var shortest = Duration.seconds(60)
        // Other processes can delay many timers in a row, but a starved loop delays each of them. In a debug
        // build, a single call to a URL without a route takes more than four milliseconds.
        for _ in 0..<500 where shortest >= self.bound {
            let delay = await withCheckedContinuation { continuation in
                loop.execute {
                    let began = ContinuousClock.now
                    loop.schedule(at: began + .milliseconds(1)) {
                        continuation.resume(returning: began.duration(to: .now))
                    }
                }
            }
            shortest = min(shortest, delay)
        }
        return shortest
    }

    private var bound: Duration { .milliseconds(Scale.isSanitized ? 50 : 5) }

    enum Storm: CaseIterable, Sendable {
        case now, later, values, parameters, publish, replies, callback
    }

    @Test(arguments: Storm.allCases, [true, false])
    func `a timer fires on time while two modules call each other for ever`(
        storm: Storm,
        isHome: Bool
    ) async throws {
        let loop = isHome ? self.loop : EventLoop(name: "other")
        let bus = self.bus
        let (asker, asked) = (Probe(eventLoop: loop), Probe(eventLoop: loop))
        try bus.register("app://now", on: asked) { _, _ in 1 }
        try bus.register("app://later", on: asked) { [weak bus] _, _ in
            try await bus?.route("app://now", as: Int.self)
        }
        try bus.subscribe("app://now") { _ in }
        let stopped = Journal<Bool>()
        async let asking: Void = asker.run {
            while stopped.count == 0 {
                switch storm {
                case .now: try await bus.route("app://now")
                case .later: try await bus.route("app://later")
                case .values: _ = try await bus.route("app://now", as: Int.self)
                case .parameters: try await bus.route("app://now", parameters: ["a": 1])
                case .publish: try await bus.publish("app://now")
                case .replies: for try await _ in bus.replies(to: "app://now") {}
                case .callback: _ = try await bus.route("app://now", as: Int.self) { (_: Int) in }
                }
            }
        }
        #expect(await self.shortestDelay(on: loop) < self.bound)
        stopped.add(true)
        try await asking
    }

    /// A public call that can return without having suspended.
    enum Call: String, CaseIterable, Sendable {
        case routeOnClosedBus, routeWithPassedDeadline, routePastHopLimit, routeToNothing, publishOnClosedBus
        case publishToNothing, enqueueOnClosedBus, enqueueToFull, enqueueToSuspending, enqueueToDropping
        case repliesOfClosedBus, readDropping, readSuspending, readDeadLetters, readTrace, returnLeg
        case replyUnheard, answerUnheard, sleepCancelled, shutDownBus, service
    }

    @Test(arguments: Call.allCases)
    func `a timer fires on time while a call is repeated for ever`(call: Call) async throws {
        let (bus, loop) = (self.bus, self.loop)
        let closed = MessageBus(eventLoop: loop, configuration: .quiet)
        await closed.shutDown()
        var limited = MessageBus.Configuration.quiet
        limited.hopLimit = 0
        let hopless = MessageBus(eventLoop: loop, configuration: limited)
        let stopped = Journal<Bool>()
        try hopless.register("app://hop") { [weak hopless] _ in
            while stopped.count == 0 { try? await hopless?.route("app://hop", as: Void.self) }
        }
        let module = Probe(eventLoop: loop)
        let overflow: MailboxConfiguration.Overflow =
            switch call {
            case .enqueueToSuspending, .readSuspending: .suspend
            case .enqueueToDropping, .readDropping: .dropOldest
            default: .fail
            }
        try bus.configureMailbox(of: module, .init(limit: 64, whenFull: overflow))
        try bus.register("app://now", on: module) { _, _ in 1 }
        let messages = Journal<Message>()
        try bus.register("app://keep") { messages.add($0) }
        try await bus.route("app://keep")
        let message = try #require(messages.entries.first)
        let reply = try await bus.route("app://now#app://keep")
        _ = await reply.returnLeg?.outcome
        let updates = try bus.subscription(to: "app://updates", limit: 64, whenFull: overflow)
        let (letters, trace) = (bus.deadLetters, try bus.trace(matching: "app://keep"))
        // Readers read from an endless source, because other threads add messages all the time.
        let feeders = [Int](0..<2).map { _ in
            Task.detached {
                while stopped.count == 0, call == .readDropping || call == .readSuspending {
                    _ = try? await bus.publish("app://updates")
                }
            }
        }
        async let feeding: Void = onThread {
            while stopped.count == 0, call == .readDeadLetters || call == .readTrace {
                bus.send(call == .readTrace ? "app://keep" : "app://nothing")
            }
        }
        async let calling: Void = Probe(eventLoop: loop).act { probe in
            var (read, seen, traced) = (
                updates.makeAsyncIterator(), letters.makeAsyncIterator(), trace.makeAsyncIterator()
            )
            while stopped.count == 0 {
                switch call {
                case .routeOnClosedBus: _ = try? await closed.route("app://now")
                case .routeWithPassedDeadline:
                    _ = try? await bus.route("app://now", deadline: .now - .seconds(1))
                case .routePastHopLimit: _ = try? await hopless.route("app://hop")
                case .routeToNothing: _ = try? await bus.route("app://nothing")
                case .publishOnClosedBus: _ = try? await closed.publish("app://now")
                case .publishToNothing: _ = try? await bus.publish("app://nothing")
                case .enqueueOnClosedBus: try? await closed.enqueue("app://now")
                case .enqueueToFull, .enqueueToSuspending, .enqueueToDropping:
                    try? await bus.enqueue("app://now")
                case .repliesOfClosedBus:
                    do { for try await _ in closed.replies(to: "app://now") {} } catch {}
                case .readDropping, .readSuspending: _ = await read.next()
                case .readDeadLetters: _ = await seen.next()
                case .readTrace: _ = await traced.next()
                case .returnLeg: _ = await reply.returnLeg?.outcome
                case .replyUnheard: _ = await message.reply(with: 1)
                case .answerUnheard: _ = try? await message.reply(with: 1, expecting: Int.self)
                case .sleepCancelled:
                    unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                    try? await loop.clock.sleep(for: .seconds(1))
                case .shutDownBus: await closed.shutDown()
                case .service:
                    _ = try? await ServiceEndpoint(bus: closed, url: "app://now").call("a", [:], as: Int.self)
                }
            }
        }
        #expect(await self.shortestDelay(on: loop) < self.bound)
        stopped.add(true)
        updates.cancel()
        await feeding
        // The last reader may wait for a message after the feeders have ended.
        let feeder = Task.detached {
            while !Task.isCancelled {
                bus.send(call == .readTrace ? "app://keep" : "app://nothing")
                try? await Task.sleep(for: .milliseconds(1))
            }
        }
        await calling
        feeder.cancel()
        for feeder in feeders { await feeder.value }
    }

    @Test func `a sender on the module's own loop can send more than its mailbox holds`() async throws {
        let module = Probe(eventLoop: self.loop)
        try self.bus.configureMailbox(of: module, .init(limit: 64))
        try self.bus.register("app://hear/:n", on: module) { module, message in
            module.hear(try message.parameters.require("n"))
        }
        let bus = self.bus
        try await Probe(eventLoop: self.loop).run {
            for number in 0..<10_000 { try await bus.enqueue("app://hear/\(number)") }
        }
        #expect(await bus.settles())
        #expect(await module.heard == Array(0..<10_000))
    }

    @Test(arguments: [true, false])
    func `rejected calls outside of the loops leave the global pool to others`(isPublished: Bool) async throws
    {
        let bus = MessageBus(eventLoop: self.loop, configuration: .quiet)
        await bus.shutDown()
        let stopped = Journal<Bool>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount * 2 {
                group.addTask {
                    while stopped.count == 0 {
                        if isPublished {
                            _ = try? await bus.publish("app://now")
                        } else {
                            _ = try? await bus.route("app://now")
                        }
                    }
                }
            }
            // The loop ends only if the pool has a thread for the tasks.
            for _ in 0..<100 { await Task.detached {}.value }
            stopped.add(true)
            try await group.waitForAll()
        }
    }

    @Test func `a timer fires on time while a message goes to very many subscribers`() async throws {
        let told = Journal<Bool>()
        let seen = Journal<Int>()
        let (bus, loop) = (self.bus, self.loop)
        for _ in 0..<20_000 { try bus.subscribe("app://now") { _ in told.add(true) } }
        let count = try await Probe(eventLoop: loop).run {
            loop.schedule(at: .now) { seen.add(told.count) }
            return try await bus.publish("app://now")
        }
        #expect(count == 20_000)
        #expect(seen.count == 1 && seen.entries.allSatisfy { $0 < 20_000 })
    }

    @Test func `a timer fires on time while two handlers send to each other for ever`() async throws {
        let bus = MessageBus(eventLoop: self.loop, configuration: .endless)
        let stopped = Journal<Bool>()
        for (from, to) in [("app://ping", "app://pong"), ("app://pong", "app://ping")] {
            try bus.register(from) { [weak bus] _ in if stopped.count == 0 { bus?.send(to) } }
        }
        for _ in 1...100 { bus.send("app://ping") }
        #expect(await self.shortestDelay(on: self.loop) < self.bound)
        stopped.add(true)
        #expect(await bus.settles())
    }

    @Test func `a flood from other threads leaves the loop time, and a caller on the loop gets its reply`()
        async throws
    {
        let bus = self.bus
        let stopped = Journal<Bool>()
        try bus.register("app://now") { _ in 1 }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<2 {
                group.addTask { await onThread { while stopped.count == 0 { bus.send("app://now") } } }
            }
            group.addTask {
                try await Probe(eventLoop: self.loop).run {
                    while stopped.count == 0 { _ = try await bus.route("app://now", as: Int.self) }
                }
            }
            #expect(await self.shortestDelay(on: self.loop) < self.bound)
            stopped.add(true)
            try await group.waitForAll()
        }
        #expect(await bus.settles())
    }
}

extension MessageBus.Configuration {
    fileprivate static var endless: Self {
        var configuration = Self.quiet
        configuration.hopLimit = .max
        return configuration
    }
}
