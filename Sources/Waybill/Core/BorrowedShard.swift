internal import WaybillEventLoop
internal import WaybillRouting

/// The shard of a loop, without reference counting.
///
/// A counted reference to a shard would be retained and released in each step of a delivery. The counting
/// takes longer than the step. Only a ``BusCore`` and its handlers create this value. A core retains its
/// shards as long as it exists, and a handler retains its core.
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

    /// The shard, retained.
    var retained: LoopShard { self.with { $0 } }

    var eventLoop: EventLoop { self.with { $0.eventLoop } }

    @inline(__always)
    var loop: ObjectIdentifier { self.with { $0.loop } }

    var isolation: LoopIsolation { self.with { $0.isolation } }

    var currentSnapshot: RouteSnapshot? { self.with { $0.currentSnapshot } }

    @inline(__always)
    var isCurrent: Bool { self.with { $0.isCurrent } }

    @inline(__always)
    var isCalling: Bool { self.with { $0.isCalling } }

    var handledMessage: CorrelationID? { self.with { $0.handledMessage } }

    /// Counts a message as sent, and returns its ID.
    @inline(__always)
    func nextMessage() -> CorrelationID {
        self.with {
            Counters.increment($0.counters.sent)
            return $0.nextID()
        }
    }

    /// Counts the outcome of a message.
    @inline(__always)
    func close(_ kind: Outcome.Kind) { self.with { $0.counters.close(kind) } }

    /// Counts one delivery, and returns whether the caller may continue without suspending.
    @inline(__always)
    func admitsDelivery() -> Bool { self.with { $0.heldLoop.admitsDelivery() } }

    @inline(__always)
    func enter(_ frame: LoopShard.Frame) -> LoopShard.Frame { self.with { $0.enter(frame) } }

    @inline(__always)
    func leave(to outer: LoopShard.Frame) { self.with { $0.leave(to: outer) } }

    @inline(__always)
    func resolve(_ request: borrowing Request) -> ResolvedRoute { self.with { $0.resolve(request) } }
}
