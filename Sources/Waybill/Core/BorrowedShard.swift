internal import WaybillEventLoop
internal import WaybillRouting

/// The shard of a loop, held by a reference that is not counted.
///
/// A counted reference to a shard would be retained and released in each step of a delivery. The counting
/// takes longer than the step. Only a ``BusCore`` and its handlers create this value, because a core retains
/// its shards as long as the core exists, and a handler retains its core.
///
/// The steps of a delivery receive the shard of the calling thread's loop, or nil when the thread runs no
/// loop of the bus.
@safe
struct BorrowedShard: Sendable {
    private let shard: Unretained<LoopShard>

    init(_ shard: LoopShard) { self.shard = Unretained(shard) }

    /// Calls a closure with the shard.
    @inline(__always)
    func with<Result>(_ body: (LoopShard) -> Result) -> Result {
        // The core that created this value retains the shard, and the caller retains the core.
        unsafe self.shard.withUnsafeObject(body)
    }

    /// The shard as a counted reference.
    var retained: LoopShard { self.with { $0 } }

    var eventLoop: EventLoop { self.with { $0.eventLoop } }

    var loop: ObjectIdentifier { self.with { $0.loop } }

    var isolation: LoopIsolation { self.with { $0.isolation } }

    var currentSnapshot: RouteSnapshot? { self.with { $0.currentSnapshot } }

    var isCurrent: Bool { self.with { $0.isCurrent } }

    /// The message whose handler is being called in place, below the calling code on the stack, or nil.
    var handledMessage: HandledMessage? { self.with { $0.handled.load() } }

    /// Counts a message as sent, and returns its ID.
    func nextMessage() -> CorrelationID {
        self.with {
            $0.counters.sent.increment()
            return $0.nextID()
        }
    }

    func count(_ kind: Outcome.Kind) {
        self.with { $0.counters.ended.count(kind) { $0.increment() } }
    }

    /// Counts one delivery, and returns whether the caller may continue without suspending.
    func consumeDeliveryBudgetIfOnLoop() -> Bool { self.with { $0.heldLoop.consumeDeliveryBudgetIfOnLoop() } }

    /// Replaces the message whose handler is being called in place, and returns the previous message.
    @inline(__always)
    @discardableResult
    func exchangeHandledMessage(_ message: HandledMessage?) -> HandledMessage? {
        self.with { $0.handled.exchange(message) }
    }
}
