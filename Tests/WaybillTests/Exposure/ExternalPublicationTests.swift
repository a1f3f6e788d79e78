import Testing
import WaybillEventLoop
import WaybillRouting
import WaybillTestSupport

@testable import Waybill

/// Publications from peers, which are delivered without a task as far as possible.
@Suite(.timeLimit(.minutes(1)))
struct ExternalPublicationTests {
    /// A bus whose loop does not poll between two subscribers, even on a slow machine.
    private let bus = MessageBus(
        eventLoop: EventLoop(configuration: EventLoop.Configuration(timeSlice: .seconds(3600))),
        configuration: .quiet
    )
    private let heard = Journal<String>()

    init() throws {
        try self.bus.expose("app://news/**", for: .publishing)
    }

    /// Begins a publication on the loop, in code without a task.
    private func begin(
        _ url: String,
        _ parameters: [String: any Sendable] = [:]
    ) async throws -> UnfinishedPublication? {
        let request = ExternalRequest(url: url, parameters: parameters, origin: .peer)
        return try await withCheckedThrowingContinuation { continuation in
            self.bus.eventLoop.execute {
                continuation.resume(with: Result { try self.bus.begin(publishing: request) })
            }
        }
    }

    @Test func `a peer's publication to immediate subscribers ends at once`() async throws {
        let heard = self.heard
        try self.bus.subscribe("app://news/:topic") { heard.add("one \($0.parameters["topic"] ?? "")") }
        try self.bus.subscribe("app://news/**") { heard.add("all \($0.parameters["n"] ?? "")") }
        // Passed values do not override the path.
        let begun = try await self.begin("app://news/today", ["topic": "other", "n": 1])
        #expect(begun == nil)
        #expect(heard.entries == ["one today", "all 1"])
        #expect(self.bus.statistics.replied == 2)
        #expect(self.bus.statistics.inFlight == 0)
    }

    @Test func `a peer's publication waits for a slow subscriber, and calls the others once`() async throws {
        let heard = self.heard
        let gate = Gate()
        try self.bus.subscribe("app://news/**") { _ in heard.add("first") }
        try self.bus.subscribe("app://news/**") { _ in
            await gate.wait()
            heard.add("slow")
        }
        try self.bus.subscribe("app://news/**") { _ in heard.add("last") }
        let unfinished = try #require(try await self.begin("app://news/today"))
        #expect(heard.entries == ["first", "last"])
        #expect(unfinished.isDelivered)
        gate.open()
        await unfinished.finish()
        #expect(heard.entries == ["first", "last", "slow"])
        #expect(self.bus.statistics.inFlight == 0)
    }

    @Test func `exposure is checked for each peer's request, however often its URL was called`() async throws
    {
        let heard = self.heard
        try self.bus.subscribe("app://**") { heard.add($0.address.text) }
        for _ in 0..<2 { _ = try await self.begin("app://prices/a") }
        #expect(heard.entries.isEmpty)
        let exposure = try self.bus.expose("app://prices/**", for: .publishing)
        for _ in 0..<2 { _ = try await self.begin("app://prices/a") }
        #expect(heard.entries == ["app://prices/a", "app://prices/a"])
        exposure.cancel()
        for _ in 0..<2 { _ = try await self.begin("app://prices/a") }
        _ = try await self.begin("app://news/a")
        #expect(heard.entries == ["app://prices/a", "app://prices/a", "app://news/a"])
    }

    @Test func `a peer's publication to a hidden URL reaches no subscriber, without an error`() async throws {
        let heard = self.heard
        try self.bus.subscribe("app://**") { _ in heard.add("reached") }
        #expect(try await self.begin("app://secret/x") == nil)
        #expect(heard.entries.isEmpty)
    }

    @Test func `a publication that begins on another thread has reached no subscriber yet`() async throws {
        let heard = self.heard
        try self.bus.subscribe("app://news/**") { _ in heard.add("heard") }
        let request = ExternalRequest(url: "app://news/today", origin: .peer)
        var unfinished = try #require(try self.bus.begin(publishing: request))
        #expect(heard.entries.isEmpty && !unfinished.isDelivered)
        unfinished.deliver()
        await unfinished.finish()
        #expect(heard.entries == ["heard"])
    }

    @Test(arguments: [2, 5])
    func `a subscriber receives a peer's publications in order, however many come`(
        subscribers: Int
    ) async throws {
        let bus = MessageBus(configuration: .quiet)
        try bus.expose("app://news/**", for: .publishing)
        let journals = (0..<subscribers).map { _ in Journal<Int>() }
        for journal in journals {
            try bus.subscribe("app://news/**") { journal.add(try $0.parameters.require("n")) }
        }
        // The loop has to poll several times, also between the subscribers.
        let count = 1_000
        try await Peer(eventLoop: bus.eventLoop).publish(count, on: bus)
        for journal in journals {
            let isInOrder = journal.entries == Array(0..<count)
            #expect(isInOrder)
        }
    }
}

/// A peer that does not wait until the subscribers of a publication have finished.
private actor Peer: LoopBound {
    nonisolated let eventLoop: EventLoop

    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    func publish(_ count: Int, on bus: MessageBus) async throws {
        for number in 0..<count {
            await EventLoop.yieldIfDue()
            let request = ExternalRequest(
                url: "app://news/today",
                parameters: ["n": number],
                origin: .peer
            )
            guard var unfinished = try bus.begin(publishing: request, isCounted: true) else { continue }
            while !unfinished.isDelivered {
                await EventLoop.yieldIfDue()
                unfinished.deliver()
            }
        }
    }
}
