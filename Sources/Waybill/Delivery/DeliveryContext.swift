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
    /// The ID and not the exchange: a task that outlives its handler keeps the context, and nothing else.
    let id: CorrelationID?
    /// The context of the handler that waits for the message, if a handler does.
    let outer: DeliveryContext?
    /// The task that runs the handler, as ``CurrentTask`` numbers it.
    private let task: UInt

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
        self.task = CurrentTask.id
    }

    /// The context of a message that is given to a handler that may suspend.
    convenience init(_ message: Message, inside outer: DeliveryContext?) {
        self.init(hops: message.hops, due: message.due, id: message.id, outer: outer)
    }

    /// The context that the calling task has inherited.
    @TaskLocal static var inherited: DeliveryContext?

    /// The context of the calling code: of the handler that it is part of, or, in the body of a loop over the
    /// replies to a message, of the handler that has sent the reply and waits for the loop to come back.
    static var current: DeliveryContext? { ReplyReaders.context(inside: self.inherited) ?? self.inherited }

    /// The context of the handler that waits for the calling code to end, if one does.
    ///
    /// A task that a handler makes by `Task { }` has the handler's context and may outlive the handler, which
    /// does not wait for it: what it routes is no part of the handler. Its own `async let` is taken for one
    /// of the handler's.
    static var waiting: DeliveryContext? {
        guard let context = self.current else { return nil }
        return context.task == CurrentTask.id || CurrentTask.isChild ? context : nil
    }

    /// The same context for the calling task: its code answers the handler, which waits for that.
    func adopted() -> DeliveryContext {
        DeliveryContext(hops: self.hops, due: self.due, id: self.id, outer: self.outer)
    }

    /// Whether this is a context, or the context of something that waits inside of it.
    func isInside(_ context: DeliveryContext) -> Bool {
        var next: DeliveryContext? = self
        while let inner = next {
            if inner === context { return true }
            next = inner.outer
        }
        return false
    }

    /// Runs a caller's code for one of a handler's replies, in the handler's context and where the caller is
    /// isolated.
    ///
    /// A function that is `nonisolated(nonsending)` has to hand its isolation over: the default would be nil.
    static func with<Result>(
        _ context: DeliveryContext?,
        isolation: isolated (any Actor)?,
        _ body: () async throws -> Result
    ) async rethrows -> Result {
        guard let context else { return try await body() }
        return try await Self.$inherited.withValue(context.adopted()) {
            // Captured, the parameter isolates the closure to the caller.
            _ = isolation
            return try await body()
        }
    }

    /// The messages of this context: their handlers wait for what happens in it.
    var messages: Set<CorrelationID> {
        var ids: Set<CorrelationID> = []
        var context: DeliveryContext? = self
        while let inner = context {
            if let id = inner.id { ids.insert(id) }
            context = inner.outer
        }
        return ids
    }
}

// A handler that is called in place notes its hops in the shard of its loop, and one that has a context has
// it as a task-local value. Of the two the shard holds the inner one, if it holds any: code that sets a
// context clears the shard's.
extension BusCore {
    /// What a message that is given to the bus here and now inherits.
    var inherited: DeliveryContext? {
        guard let shard = self.currentShard else { return DeliveryContext.current }
        return shard.inherited
    }

    /// Starts a handler's task in place; until it suspends, what it sends is its own, and not that of a
    /// handler that was called in place and is below it on the stack.
    func startTask(_ start: () -> Task<Void, Never>) -> Task<Void, Never> {
        guard let shard = self.currentShard else { return start() }
        return shard.clear(start)
    }
}

extension LoopShard {
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
