internal import Logging
internal import Measure
internal import Synchronization
internal import Waybill
public import WaybillEventLoop

/// Sends messages that nobody awaits, and waits only so that the mailbox never overflows.
public final class Sender: Sendable {
    /// How many messages may be on their way: below what a mailbox holds.
    private static let window = 896

    private let bus: MessageBus
    private let handled = Atomic<Int>(0)

    /// Registers what the messages go to.
    public init(on loop: EventLoop) throws {
        // A message that got lost is counted below, and need not be written down a million times.
        var logger = Logger(label: "benchmarks")
        logger.logLevel = .critical
        self.bus = MessageBus(eventLoop: loop, configuration: .init(logger: logger))
        for pattern in GitHubRoutes.patterns { try self.bus.register(pattern) { _ in 0 } }
        try self.bus.register("app://log/write") { [unowned self] message in
            let line: Int = try message.parameters.require("uid")
            self.handled.add(line > 0 ? 1 : 0, ordering: .relaxed)
        }
    }

    /// Sends from the bus's loop: a burst is handled when the loop gets to it, here by routing behind it.
    public func sendOnLoop(_ count: Int) async throws -> UInt64 {
        try await Caller(eventLoop: self.bus.eventLoop).run { try await self.sendInBursts(count) }
    }

    private nonisolated(nonsending) func sendInBursts(_ count: Int) async throws -> UInt64 {
        let before = self.handled.load(ordering: .relaxed)
        let start = MonotonicTime.now
        for index in 0..<count {
            self.bus.send(Self.urls[index])
            if index % Self.window == Self.window - 1 { try await self.bus.route(Self.behindTheRest) }
        }
        try await self.bus.route(Self.behindTheRest)
        return self.time(since: start, before, count)
    }

    /// Sends from a thread without a loop, as fast as the loop handles the messages.
    public func sendFromOutside(_ count: Int) async throws -> UInt64 {
        let before = self.handled.load(ordering: .relaxed)
        let start = MonotonicTime.now
        for index in 0..<count {
            self.bus.send(Self.urls[index])
            while before + index - self.handled.load(ordering: .relaxed) > Self.window { yieldCore() }
        }
        try await self.bus.route(Self.behindTheRest)
        return self.time(since: start, before, count)
    }

    private func time(since start: UInt64, _ before: Int, _ count: Int) -> UInt64 {
        let time = MonotonicTime.now - start
        precondition(self.handled.load(ordering: .relaxed) - before == count, "a message was lost")
        return time
    }

    private static let urls = UserURLs("app://log/write")

    /// A message that is awaited, and not counted: the module handles what was sent before it first.
    private static let behindTheRest = "app://log/write?uid=0"
}
