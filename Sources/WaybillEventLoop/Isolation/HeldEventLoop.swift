/// A loop for an object that asks it something with every message, without counting references.
///
/// A loop that is read out of an object is retained while it is asked, which costs more than most answers.
/// This value cannot be copied, so it is borrowed instead; it holds the loop for as long as it exists.
@safe
@usableFromInline
package struct HeldEventLoop: ~Copyable, Sendable {
    private let eventLoop: EventLoop
    /// The core of ``eventLoop``, which holds it.
    let core: Unretained<LoopCore>

    /// Holds a loop.
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

    /// Whether the caller is on the loop and may continue without suspending; counts one delivery if so.
    ///
    /// ``isInEventLoop`` and ``EventLoop/consumeDeliveryBudget()`` in one call.
    package func admitsDelivery() -> Bool {
        unsafe self.core.withUnsafeObject { core in
            guard core.isOnThread else { return false }
            return unsafe core.state.pointee.budget.consume(at: { MonotonicTime.now })
        }
    }

    /// Counts one delivery against what the loop may do before it polls again, as
    /// ``EventLoop/consumeDeliveryBudget()``; traps unless the calling thread runs the loop.
    package func consumeDeliveryBudget() -> Bool {
        unsafe self.core.withUnsafeObject { core in
            precondition(core.isOnThread, "the budget belongs to the loop's thread")
            return unsafe core.state.pointee.budget.consume(at: { MonotonicTime.now })
        }
    }
}
