internal import Logging
internal import Measure
internal import Synchronization
internal import Waybill
public import WaybillEventLoop

/// Sends messages that no caller awaits, and pauses only so that the mailbox does not overflow.
public final class Sender: Sendable {
    /// The maximum number of messages in flight, which is below the limit of a mailbox.
    private static let window = 896

    private let bus: MessageBus
    private let handled = Atomic<Int>(0)

    /// Registers the handler of the messages.
    public init(on loop: EventLoop) throws {
        // A lost message is counted below, so a million log entries are unnecessary.
        var logger = Logger(label: "benchmarks")
        logger.logLevel = .critical
        self.bus = MessageBus(eventLoop: loop, configuration: .init(logger: logger))
        for pattern in GitHubRoutes.patterns { try self.bus.register(pattern) { _ in 0 } }
        try self.bus.register("app://log/write") { [unowned self] message in
            let line: Int = try message.parameters.require("uid")
            self.handled.add(line > 0 ? 1 : 0, ordering: .relaxed)
        }
    }

    /// Sends from the bus's loop.
    ///
    /// The loop handles a burst when the sender awaits a routed message behind it.
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

    /// Routes a message that is not counted.
    ///
    /// The module handles all sent messages before it.
    private static let behindTheRest = "app://log/write?uid=0"
}
