import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)), .everyHost)
struct CancellationTests {
    let bus = MessageBus.onHost()

    @Test(arguments: RouteTests.Place.allCases, [true, false])
    func `it reaches the handler and sets the caller free`(place: RouteTests.Place, isFar: Bool) async throws
    {
        let started = Gate()
        let cancelled = Gate()
        let module = Probe(eventLoop: isFar ? EventLoop() : self.bus.eventLoop)
        try self.bus.register("app://slow", on: module) { _, _ in
            started.open()
            await withTaskCancellationHandler {
                await cancelled.wait()
            } onCancel: {
                cancelled.open()
            }
        }
        let bus = self.bus
        let caller = Task {
            await RouteTests.run(place, bus) { await failure { try await bus.route("app://slow") } }
        }
        await started.wait()
        caller.cancel()
        #expect(await caller.value?.code == .cancelled)
        await cancelled.wait()
        #expect(bus.statistics.cancelled == 1 && bus.statistics.inFlight == 0)
    }

    @Test(arguments: [false, true])
    func `it does not wait for a handler that never looks up, and the late reply is dropped and counted`(
        isSurrounded: Bool
    ) async throws {
        let failures = Journal<RoutingError.Code>()
        if isSurrounded {
            self.bus.use(FilterMiddleware(onFailure: { failures.add($1.code) }))
        }
        let started = Gate()
        let never = Gate()
        let ended = Gate()
        let heard = Journal<Int>()
        try self.bus.register("app://deaf") { _ -> Int in
            started.open()
            await never.wait()
            defer { ended.open() }
            return 1
        }
        try self.bus.register("app://home") { _ in heard.add(1) }
        let caller = Task { [bus] in await failure { try await bus.route("app://deaf#home") } }
        await started.wait()
        caller.cancel()
        #expect(await caller.value?.code == .cancelled)
        never.open()
        await ended.wait()
        await Probe(eventLoop: self.bus.eventLoop).run {}
        #expect(self.bus.statistics.sent == 1 && self.bus.statistics.cancelled == 1)
        #expect(self.bus.statistics.replied == 0 && heard.count == 0)
        #expect(await eventually { self.bus.statistics.lateReplies == 1 })
        #expect(await eventually { failures.entries == (isSurrounded ? [.cancelled] : []) })
        #expect("\(self.bus.statistics)".hasSuffix("0 in flight, 1 replied too late"))
        #expect(self.bus.routeStatistics.map(\.counts.lateReplies) == [1, 0])
    }

    @Test func `it travels down a chain of handlers`() async throws {
        let bus = self.bus
        let far = Probe(eventLoop: EventLoop())
        let started = Gate()
        let cancelled = Gate()
        try bus.register("app://a") { [weak bus] _ in try await bus?.route("app://b", as: Void.self) }
        try bus.register("app://b", on: far) { [weak bus] _, _ in
            try await bus?.route("app://c", as: Void.self)
        }
        try bus.register("app://c") { _ in
            started.open()
            await withTaskCancellationHandler {
                await cancelled.wait()
            } onCancel: {
                cancelled.open()
            }
        }
        let caller = Task { await failure { try await bus.route("app://a") } }
        await started.wait()
        caller.cancel()
        #expect(await caller.value?.code == .cancelled)
        await cancelled.wait()
        #expect(await bus.settles())
        #expect(bus.statistics.cancelled == 3)
    }

    @Test func `a handler's own CancellationError is its failure`() async throws {
        try self.bus.register("app://a") { _ in throw CancellationError() }
        try self.bus.register("app://b") { _ in
            await Task.yield()
            throw CancellationError()
        }
        for url in ["app://a", "app://b"] {
            let error = await failure { try await self.bus.route(url) }
            #expect(error?.code == .handlerFailed && error?.cause is CancellationError)
        }
    }

    @Test func `what waits for its loop is not started any more`() async throws {
        let heard = Journal<Int>()
        let held = Gate()
        let begun = Gate()
        try self.bus.register("app://hold") { _ in
            begun.open()
            held.block()
        }
        try self.bus.register("app://a") { _ in
            heard.add(1)
            await Task.yield()
        }
        self.bus.send("app://hold")
        await begun.wait()
        let caller = Task { [bus] in await failure { try await bus.route("app://a") } }
        #expect(await eventually { self.bus.statistics.sent == 2 })
        caller.cancel()
        #expect(await caller.value?.code == .cancelled)
        held.open()
        await Probe(eventLoop: self.bus.eventLoop).run {}
        #expect(heard.count == 0)
    }

    @Test(arguments: [true, false])
    func `what waits for its loop and answers at once is not called any more`(isFar: Bool) async throws {
        let heard = Journal<Int>()
        let held = Gate()
        let begun = Gate()
        let module = Probe(eventLoop: isFar ? EventLoop() : self.bus.eventLoop)
        try self.bus.register("app://hold", on: module) { _, _ in
            begun.open()
            held.block()
        }
        try self.bus.register("app://a", on: module) { _, _ in heard.add(1) }
        self.bus.send("app://hold")
        await begun.wait()
        let caller = Task { [bus] in await failure { try await bus.route("app://a") } }
        #expect(await eventually { self.bus.statistics.sent == 2 })
        caller.cancel()
        held.open()
        #expect(await caller.value?.code == .cancelled)
        #expect(heard.count == 0 && self.bus.statistics.cancelled == 1)
        #expect(await self.bus.settles())
        try await self.bus.route("app://a")
    }
}
