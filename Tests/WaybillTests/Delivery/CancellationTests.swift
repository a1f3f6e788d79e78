import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@Suite(.timeLimit(.minutes(1)), .everyHost, .alsoElsewhere)
struct CancellationTests {
    let modules = CalledModules.underTest()
    var bus: MessageBus { self.modules.bus }
    var caller: MessageBus { self.modules.caller }

    @Test(arguments: RouteTests.Place.allCases, [true, false])
    func `cancelling the caller cancels the handler, and resumes the caller`(
        place: RouteTests.Place,
        isFar: Bool
    ) async throws {
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
        let caller = self.caller
        let task = Task {
            await RouteTests.run(place, caller) { await failure { try await caller.route("app://slow") } }
        }
        await started.wait()
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        await cancelled.wait()
        #expect(caller.statistics.cancelled == 1 && caller.statistics.inFlight == 0)
    }

    @Test(.inProcessOnly("a late reply is counted where the handler is"), arguments: [false, true])
    func `a cancelled caller does not wait for its handler, whose late reply is dropped and counted`(
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
        let task = Task { [caller] in await failure { try await caller.route("app://deaf#home") } }
        await started.wait()
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        never.open()
        await ended.wait()
        await Probe(eventLoop: self.bus.eventLoop).run {}
        #expect(self.caller.statistics.sent == 1 && self.caller.statistics.cancelled == 1)
        #expect(self.caller.statistics.replied == 0 && heard.count == 0)
        #expect(await eventually { self.caller.statistics.lateReplies == 1 })
        #expect(await eventually { failures.entries == (isSurrounded ? [.cancelled] : []) })
        #expect("\(self.caller.statistics)".hasSuffix("0 in flight, 1 replied too late"))
        #expect(self.caller.routeStatistics.map(\.counts.lateReplies) == [1, 0])
    }

    @Test func `a cancellation cancels the whole chain of handlers`() async throws {
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
        let caller = self.caller
        let task = Task { await failure { try await caller.route("app://a") } }
        await started.wait()
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        await cancelled.wait()
        #expect(await bus.settles())
        #expect(bus.statistics.cancelled == 3)
    }

    @Test func `a CancellationError that a handler throws is a failure`() async throws {
        try self.bus.register("app://a") { _ in throw CancellationError() }
        try self.bus.register("app://b") { _ in
            await Task.yield()
            throw CancellationError()
        }
        for url in ["app://a", "app://b"] {
            let error = await failure { try await self.caller.route(url) }
            #expect(error?.code == .handlerFailed)
            // A failure on another bus has no cause.
            #expect((error?.cause is CancellationError) == !self.modules.isConnected)
        }
    }

    @Test(.inProcessOnly("what was sent is started, and cancelled when its loop has read that"))
    func `a cancelled message that waits for its loop is not started`() async throws {
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
        self.caller.send("app://hold")
        await begun.wait()
        let task = Task { [caller] in await failure { try await caller.route("app://a") } }
        #expect(await eventually { self.caller.statistics.sent == 2 })
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        held.open()
        await Probe(eventLoop: self.bus.eventLoop).run {}
        #expect(heard.count == 0)
    }

    @Test(
        .inProcessOnly("what was sent is called, or cancelled if its loop has read that before"),
        arguments: [true, false]
    )
    func `a cancelled message does not call an immediate handler`(isFar: Bool) async throws {
        let heard = Journal<Int>()
        let held = Gate()
        let begun = Gate()
        let module = Probe(eventLoop: isFar ? EventLoop() : self.bus.eventLoop)
        try self.bus.register("app://hold", on: module) { _, _ in
            begun.open()
            held.block()
        }
        try self.bus.register("app://a", on: module) { _, _ in heard.add(1) }
        self.caller.send("app://hold")
        await begun.wait()
        let task = Task { [caller] in await failure { try await caller.route("app://a") } }
        #expect(await eventually { self.caller.statistics.sent == 2 })
        task.cancel()
        held.open()
        #expect(await task.value?.code == .cancelled)
        #expect(heard.count == 0 && self.caller.statistics.cancelled == 1)
        #expect(await self.caller.settles())
        try await self.caller.route("app://a")
    }
}
