/// A loop for an object that queries the loop for every message, without reference counting.
///
/// If an object reads its loop from a property, the loop is retained while it is used. Retaining the loop
/// costs more than most queries. This value cannot be copied, so callers access it without retaining the
/// loop. The value keeps the loop alive as long as the value exists.
@safe
@usableFromInline
package struct HeldEventLoop: ~Copyable, Sendable {
    private let eventLoop: EventLoop
    /// The core of the loop, which ``eventLoop`` keeps alive.
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
    /// if the caller is on the loop.
    ///
    /// This method combines ``isInEventLoop`` and ``EventLoop/consumeDeliveryBudget()`` in one call.
    package func consumeDeliveryBudgetIfOnLoop() -> Bool {
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
