internal import Measure
internal import Synchronization
internal import Waybill
public import WaybillEventLoop

/// A module with ten thousand waiting callers, which it then answers at once.
public struct WaitingRoom: Sendable {
    /// The number of callers that wait at the same time.
    public static let count = 10_000

    private let bus: MessageBus
    private let module: Doorman

    /// Creates the room on a loop.
    ///
    /// - Throws: The error of a registration.
    public init(on loop: EventLoop) throws {
        var configuration = MessageBus.Configuration()
        configuration.mailboxLimit = Self.count * 2
        self.bus = MessageBus(eventLoop: loop, configuration: configuration)
        self.module = Doorman(eventLoop: loop)
        try self.bus.register("app://door/wait", on: self.module) { module, _ in await module.wait() }
    }

    /// Makes all callers arrive, wait and receive their answers.
    ///
    /// - Parameters:
    ///   - inTime: Whether each caller has a different deadline in the far future.
    ///   - isOutside: Whether the callers are not on a loop.
    /// - Returns: The time in nanoseconds.
    /// - Throws: The error of a route.
    public func wait(inTime: Bool, isOutside: Bool) async throws -> UInt64 {
        let (bus, module) = (self.bus, self.module)
        return try await module.run { module in
            let start = MonotonicTime.now
            let now = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<Self.count {
                    let deadline = inTime ? now + .seconds(600 + number % 1000) : nil
                    group.addTask {
                        if isOutside {
                            try await bus.route("app://door/wait", deadline: deadline)
                        } else {
                            try await self.module.ask(bus, deadline)
                        }
                    }
                }
                while module.waiting < Self.count { await Task.yield() }
                module.open()
                try await group.waitForAll()
            }
            return MonotonicTime.now - start
        }
    }
}

/// Suspends the callers until the door opens.
actor Doorman: LoopBound {
    nonisolated let eventLoop: EventLoop
    private var callers: [CheckedContinuation<Void, Never>] = []

    init(eventLoop: EventLoop) { self.eventLoop = eventLoop }

    var waiting: Int { self.callers.count }

    func wait() async { await withCheckedContinuation { self.callers.append($0) } }

    func ask(_ bus: MessageBus, _ deadline: ContinuousClock.Instant?) async throws {
        try await bus.route("app://door/wait", deadline: deadline)
    }

    func open() {
        let callers = self.callers
        self.callers = []
        for caller in callers { caller.resume() }
    }

    func run<Value: Sendable>(
        _ body: @Sendable (isolated Doorman) async throws -> Value
    ) async rethrows -> Value {
        try await body(self)
    }
}
