internal import Measure
public import Waybill
public import WaybillEventLoop

/// The calling module. Each method repeats one kind of call, checks the answers, and returns the total time.
public actor Caller: LoopBound {
    /// The loop of the module.
    public nonisolated let eventLoop: EventLoop

    /// Creates a calling module.
    public init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    /// Routes URLs one after the other.
    public func route(_ urls: UserURLs, on bus: MessageBus, _ count: Int) async throws -> UInt64 {
        var sum = 0
        let start = MonotonicTime.now
        for index in 0..<count {
            let value: Int = try await bus.route(urls[index])
            sum &+= value
        }
        return Self.time(since: start, sum, count)
    }

    /// Routes URLs with a deadline that does not pass.
    public func routeInTime(_ urls: UserURLs, on bus: MessageBus, _ count: Int) async throws -> UInt64 {
        var sum = 0
        let start = MonotonicTime.now
        for index in 0..<count {
            let value: Int = try await bus.route(urls[index], deadline: .now + .seconds(2))
            sum &+= value
        }
        return Self.time(since: start, sum, count)
    }

    /// Routes typed URLs, whose parameters the compiler has checked.
    public func routeTypedURLs(on bus: MessageBus, _ count: Int) async throws -> UInt64 {
        var sum = 0
        let start = MonotonicTime.now
        for index in 0..<count { sum &+= try await bus.route(Desk.URLs.detail(uid: index & 15 &+ 1)) }
        return Self.time(since: start, sum, count)
    }

    /// Calls a service.
    public func call(_ service: any DetailService, _ count: Int) async throws -> UInt64 {
        var sum = 0
        let start = MonotonicTime.now
        for index in 0..<count { sum &+= try await service.detail(uid: index & 15 &+ 1) }
        return Self.time(since: start, sum, count)
    }

    /// Calls the module itself, without a bus.
    public func call(_ module: UserModule, _ count: Int) async -> UInt64 {
        var sum = 0
        let start = MonotonicTime.now
        for index in 0..<count { sum &+= await module.detail(uid: index & 15 &+ 1) }
        return Self.time(since: start, sum, count)
    }

    /// Keeps a number of requests in flight, and routes or calls in each.
    public func inFlight(
        _ callers: Int,
        _ count: Int,
        _ each: @escaping @Sendable (_ count: Int) async throws -> UInt64
    ) async throws -> UInt64 {
        let share = max(1, count / callers)
        let start = MonotonicTime.now
        try await withThrowingTaskGroup(of: UInt64.self) { group in
            for _ in 0..<callers { group.addTask { try await each(share) } }
            try await group.waitForAll()
        }
        let time = MonotonicTime.now - start
        return time * UInt64(count) / UInt64(share * callers)
    }

    /// Stops the clock, and checks the sum of the answers.
    public static func time(since start: UInt64, _ sum: Int, _ count: Int) -> UInt64 {
        let time = MonotonicTime.now - start
        precondition(sum == UserURLs.sum(count), "an answer was wrong")
        return time
    }
}

extension Caller {
    /// Runs code on the loop.
    public func run<Value: Sendable>(
        _ body: @Sendable () async throws -> Value
    ) async rethrows -> Value {
        try await body()
    }
}

extension Caller {
    /// Publishes URLs one after the other to some subscribers.
    public func publish(
        _ urls: UserURLs,
        to subscribers: Int,
        on bus: MessageBus,
        _ count: Int
    ) async throws -> UInt64 {
        var taken = 0
        let start = MonotonicTime.now
        for index in 0..<count { taken += try await bus.publish(urls[index]) }
        let time = MonotonicTime.now - start
        precondition(taken == count * subscribers, "a subscriber was left out")
        return time
    }
}
