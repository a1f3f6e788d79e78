import Testing
import Waybill
import WaybillTestSupport
import WaybillTesting

@Suite(.timeLimit(.minutes(1)))
struct StubTests {
    private let bus = MessageBus(configuration: .quiet)

    @Test func `a stub replies with its answers in order, and then repeats the last one`() async throws {
        let stub = try self.bus.stub("app://count", .value(1), .value(2))
        var values: [Int] = []
        for _ in 0..<4 { values.append(try await self.bus.route("app://count")) }
        #expect(values == [1, 2, 2, 2])
        #expect(stub.callCount == 4)
    }

    @Test func `a stub fails with the error that it was given`() async throws {
        try self.bus.stub("app://no", .failure(RoutingError.refused("not today")), .failure(Broken()))
        let refused = await failure { try await self.bus.route("app://no") }
        #expect(refused?.code == .refused)
        let broken = await failure { try await self.bus.route("app://no") }
        #expect(broken?.code == .handlerFailed)
        #expect(broken?.cause is Broken)
    }

    @Test func `a stub that never answers ends when its caller is cancelled`() async throws {
        let stub = try self.bus.stub("app://slow", .never)
        let bus = self.bus
        let caller = Task { await failure { try await bus.route("app://slow") } }
        await stub.called()
        caller.cancel()
        #expect(await caller.value?.code == .cancelled)
    }

    @Test func `a task that waits for a call of a stub ends when it is cancelled`() async throws {
        let stub = try self.bus.stub("app://slow", .never)
        let waiter = Task { await stub.called() }
        // The task waits, or is cancelled before it waits.
        await Task.yield()
        waiter.cancel()
        await waiter.value
        #expect(stub.callCount == 0)
    }

    @Test func `a stub can answer with a closure, and keeps its messages`() async throws {
        let stub = try self.bus.stub("app://user/:uid") { message in "user \(message.parameters["uid"] ?? "")"
        }
        let text: String = try await self.bus.route("app://user/7?page=2")
        #expect(text == "user 7")
        #expect(stub.messages.map { $0.parameters["page"] } == ["2"])
    }

    @Test func `a second stub of a pattern is a conflict, and a cancelled stub is removed`() async throws {
        let stub = try self.bus.stub("app://user")
        #expect(throws: RoutingError.self) { try self.bus.stub("app://user", .value(1)) }
        try await self.bus.route("app://user")
        stub.cancel()
        #expect(await failure { try await self.bus.route("app://user") }?.code == .noRoute)
    }
}

private struct Broken: Error {}
