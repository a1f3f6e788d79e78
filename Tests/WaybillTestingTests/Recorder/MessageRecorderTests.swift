import Testing
import Waybill
import WaybillTestSupport
import WaybillTesting

@Suite(.timeLimit(.minutes(1)))
struct MessageRecorderTests {
    private let bus = MessageBus(configuration: .quiet)
    private let recorder: MessageRecorder

    init() { self.recorder = MessageRecorder(on: self.bus) }

    @Test func `the message recorder has a message and its outcome when the caller has the reply`()
        async throws
    {
        try self.bus.register("app://sum/:a/:b") { message -> Int in
            try message.parameters.require("a") + message.parameters.require("b")
        }
        let sum = try await self.bus.route(
            "app://sum/1/2?round=up",
            parameters: ["extra": 3],
            headers: ["user": "lili"]
        )
        let message = try #require(self.recorder.messages.first)
        #expect(self.recorder.messages.count == 1)
        #expect(message.id == sum.correlationID)
        #expect(message.url == "app://sum/1/2?round=up")
        #expect(message.pattern == "app://sum/:a/:b")
        #expect(message.parameters == ["a": "1", "b": "2", "round": "up", "extra": "3"])
        #expect(message.headers == ["user": "lili"])
        #expect(message.hasEnded)
        #expect(try message.value(as: Int.self) == 3)
    }

    @Test func `the message recorder may release an object whose deinit causes a dead letter`() async throws {
        let bus = self.bus
        try bus.register("app://guest") { _ in Guest { bus.send("") } }
        try await bus.route("app://guest")
        self.recorder.clear()
        #expect(self.recorder.messages.map(\.url) == [""])
        bus.unregister("app://guest")
    }

    @Test func `the message recorder has failures with their reasons`() async throws {
        try self.bus.register("app://broken") { message in try message.parameters.require("uid", as: Int.self)
        }
        _ = await failure { try await self.bus.route("app://broken") }
        _ = await failure { try await self.bus.route("app://nobody") }
        _ = await failure { try await self.bus.route("") }
        #expect(self.recorder.messages.map(\.url) == ["app://broken", "app://nobody", ""])
        #expect(self.recorder.messages.map { $0.error?.code } == [.missingParameter, .noRoute, .invalidURL])
        #expect(throws: RoutingError.self) { try self.recorder.messages[0].value(as: Int.self) }
    }

    @Test func `the message recorder has sent and published messages and return legs`() async throws {
        try self.bus.register("app://pay") { _ in 42 }
        try self.bus.register("app://receipt") { message in _ = try message.payload(as: Int.self) }
        try self.bus.register("app://log/:text") { _ in }
        let first = try self.bus.subscribe("app://session/*") { _ in }
        let second = try self.bus.subscribe("app://session/expired") { _ in }
        defer {
            first.cancel()
            second.cancel()
        }
        try await self.bus.route("app://pay#receipt")
        let receipt = try await self.recorder.wait(for: "app://receipt")
        let payment = try #require(try self.recorder.messages(to: "app://pay").first)
        #expect(receipt.correlationID == payment.id)
        self.bus.send("app://log/hi")
        try await self.recorder.wait(for: "app://log/:text")
        #expect(try await self.bus.publish("app://session/expired") == 2)
        #expect(try self.recorder.messages(to: "app://session/**").count == 2)
        #expect(try self.recorder.messages(to: "app://log/hi").count == 1)
    }

    @Test func `the message recorder has the progress replies of a message`() async throws {
        try self.bus.register("app://start") { message -> String in
            _ = try await message.reply(with: 1, expecting: Bool.self)
            _ = try await message.reply(with: 2, expecting: Bool.self)
            return "done"
        }
        let last: String = try await self.bus.route("app://start") { (_: Int) in true }
        #expect(last == "done")
        #expect(self.recorder.messages.first?.progress as? [Int] == [1, 2])
    }

    @Test func `the message recorder waits for a message that has not been sent yet`() async throws {
        try self.bus.stub("app://late/:n", .value(1))
        let recorder = self.recorder
        let waiting = Task { try await recorder.wait(for: "app://late/**", count: 2) }
        try await self.bus.route("app://late/1")
        try await self.bus.route("app://late/2")
        #expect(try await waiting.value.url == "app://late/2")
    }

    @Test func `the message recorder waits for the end of a message, or only until it was sent`() async throws
    {
        let stub = try self.bus.stub("app://slow", .never)
        let bus = self.bus
        let caller = Task { await failure { try await bus.route("app://slow") } }
        #expect(try await self.recorder.wait(for: "app://slow", until: .sent).hasEnded == false)
        await stub.called()
        caller.cancel()
        #expect(try await self.recorder.wait(for: "app://slow").error?.code == .cancelled)
    }

    @Test func `the message recorder's wait has a time limit, and its error lists the recorded messages`()
        async throws
    {
        try self.bus.stub("app://other", .value(1))
        try await self.bus.route("app://other")
        let error = await failure {
            try await self.recorder.wait(for: "app://missing", within: .milliseconds(20))
        }
        #expect(error?.code == .deadlineExceeded)
        #expect(error?.url == "app://missing")
        #expect(error?.message.contains("app://other") == true)
    }

    @Test func `cancelling the message recorder's wait ends it`() async throws {
        let recorder = self.recorder
        let waiting = Task {
            await failure { try await recorder.wait(for: "app://missing", within: .seconds(50)) }
        }
        waiting.cancel()
        #expect(await waiting.value?.code == .cancelled)
    }

    @Test func `asking the message recorder for an invalid pattern fails`() {
        #expect(throws: RoutingError.self) { try self.recorder.messages(to: "app://%FF") }
    }

    @Test func `the message recorder ignores the dead letter of a message that it has cleared`() async throws
    {
        let (finished, finish) = AsyncStream.makeStream(of: Void.self)
        try self.bus.register("app://slow") { _ in
            for await _ in finished {}
            throw RoutingError.refused("closed")
        }
        // The recorder has observed a dead letter before this later observer receives it.
        var letters = self.bus.deadLetters.makeAsyncIterator()
        self.bus.send("app://slow")
        try await self.recorder.wait(for: "app://slow", until: .sent)
        self.recorder.clear()
        finish.finish()
        #expect(await letters.next()?.url == "app://slow")
        #expect(self.recorder.messages.isEmpty)
    }

    @Test func `the message recorder can be cleared and stopped`() async throws {
        try self.bus.stub("app://user", .value(1))
        try await self.bus.route("app://user")
        self.recorder.clear()
        #expect(self.recorder.messages.isEmpty)
        try await self.bus.route("app://user")
        self.recorder.stop()
        try await self.bus.route("app://user")
        _ = await failure { try await self.bus.route("") }
        #expect(self.recorder.messages.count == 1)
    }
}
