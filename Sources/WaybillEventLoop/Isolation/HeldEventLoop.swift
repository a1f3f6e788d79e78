/// A loop for an object that queries it with every message, without reference counting.
///
/// A loop that is read from a property is retained while it is used, which costs more than most queries. This
/// value cannot be copied, so it is borrowed instead. It keeps the loop alive for as long as it exists.
@safe
@usableFromInline
package struct HeldEventLoop: ~Copyable, Sendable {
    private let eventLoop: EventLoop
    /// The core of ``eventLoop``, which keeps it alive.
    let core: Unretained<LoopCore>

    /// Creates a value that keeps a loop alive.
    package init(_ eventLoop: EventLoop) {
        self.eventLoop = eventLoop
        self.core = Unretained(eventLoop.core)
    }

    /// Whether the calling thread runs the loop.
    @usableFromInline
    package var isInEventLoop: Bool {
        unsafe self.core.withUnsafeObject { $0.isOnThread }
    }

    /// Whether the loop has been asked to shut down.
    package var isShutDown: Bool {
        unsafe self.core.withUnsafeObject { $0.lifecycle.isRequested }
    }

    /// Returns whether the caller is on the loop and may continue without suspending, and counts one delivery
    /// if it is on the loop.
    ///
    /// This method combines ``isInEventLoop`` and ``EventLoop/consumeDeliveryBudget()`` in one call.
    package func admitsDelivery() -> Bool {
        unsafe self.core.withUnsafeObject { core in
            guard core.isOnThread else { return false }
            return unsafe core.state.pointee.budget.consume(at: { MonotonicTime.now })
        }
    }

    /// Counts one delivery against the work that the loop may run before it polls again.
    ///
    /// Equal to ``EventLoop/consumeDeliveryBudget()``. Traps unless the calling thread runs the loop.
    package func consumeDeliveryBudget() -> Bool {
        unsafe self.core.withUnsafeObject { core in
            precondition(core.isOnThread, "internal error: the budget of a loop was used on another thread")
            return unsafe core.state.pointee.budget.consume(at: { MonotonicTime.now })
        }
    }
}
