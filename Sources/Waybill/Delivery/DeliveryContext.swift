internal import Synchronization
internal import WaybillEventLoop

/// What a route made inside a handler inherits from the message that is being handled.
final class DeliveryContext: Sendable {
    /// How many routes led to the message.
    let hops: Int
    /// When its caller stops waiting.
    let due: Deadline
    /// Which message it is, if its handler may suspend.
    ///
    /// The ID and not the exchange: a task that a handler leaves behind keeps the context, and nothing else.
    let id: CorrelationID?
    /// What is being handled by whoever waits for the message, if that is a handler.
    let outer: DeliveryContext?

    init(
        hops: Int,
        due: Deadline = .never,
        id: CorrelationID? = nil,
        outer: DeliveryContext? = nil
    ) {
        self.hops = hops
        self.due = due
        self.id = id
        self.outer = outer
    }

    /// The context of a message that is given to a handler that may suspend.
    convenience init(_ message: Message, inside outer: DeliveryContext?) {
        self.init(hops: message.hops, due: message.due, id: message.id, outer: outer)
    }

    @TaskLocal static var current: DeliveryContext?

    /// Runs a caller's code for one of a handler's replies, in the handler's context and where the caller is isolated.
    ///
    /// A function that is `nonisolated(nonsending)` has to hand its isolation over: the default would be nil.
    static func with<Result>(
        _ context: DeliveryContext?,
        isolation: isolated (any Actor)?,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard let context else { return try await body() }
        return try await Self.$current.withValue(context) {
            // Captured, the parameter isolates the closure to the caller.
            _ = isolation
            return try await body()
        }
    }

    /// The messages whose handlers do not go on before the calling code does.
    static var ongoing: Set<CorrelationID> {
        var ids: Set<CorrelationID> = []
        var context = Self.current
        while let inner = context {
            if let id = inner.id { ids.insert(id) }
            context = inner.outer
        }
        return ids
    }
}

// A handler that is called in place notes its hops in the lane of its loop, and one that has a context has it as a
// task-local value. Of the two the lane holds the inner one, if it holds any: whoever brings a context clears it.
extension BusCore {
    /// What a message that is given to the bus here and now inherits.
    var inherited: DeliveryContext? {
        guard let lane = self.currentLane else { return DeliveryContext.current }
        return lane.inherited
    }

    /// Starts a handler's task in place; until it suspends, what it sends is its own, and not that of a handler that was
    /// called in place and is below it on the stack.
    func startTask(_ start: () -> Task<Void, Never>) -> Task<Void, Never> {
        guard let lane = self.currentLane else { return start() }
        return lane.clear(start)
    }
}

extension Lane {
    /// Runs code that brings a context of its own, or none.
    fileprivate func clear<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = self.begin(.nobody)
        let isCovering = outer.hops != Self.nobody
        if isCovering { self.covered.store(self.covered.load(ordering: .relaxed) &+ 1, ordering: .relaxed) }
        defer {
            if isCovering {
                self.covered.store(self.covered.load(ordering: .relaxed) &- 1, ordering: .relaxed)
            }
            self.end(outer)
        }
        return try body()
    }
}
