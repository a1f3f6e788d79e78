/// A loop for code that asks it something with every message, and that holds it by other means.
///
/// A loop that is read out of an object is retained while it is asked, which costs more than most answers.
@safe
package struct UnretainedEventLoop: Sendable {
    private let core: Unmanaged<LoopCore>

    /// Names a loop; it must be held for as long as this is used.
    package init(_ eventLoop: EventLoop) {
        unsafe self.core = .passUnretained(eventLoop.core)
    }

    /// Whether the calling thread runs the loop.
    package var isInEventLoop: Bool {
        unsafe self.core._withUnsafeGuaranteedRef { $0.isOnThread }
    }

    /// Whether the loop has been asked to shut down.
    package var isShutDown: Bool {
        unsafe self.core._withUnsafeGuaranteedRef { $0.lifecycle.isRequested }
    }

    /// Whether the caller is on the loop and may go on without suspending; counts one delivery if so.
    ///
    /// ``isInEventLoop`` and ``EventLoop/consumeDeliveryBudget()`` in one call.
    package func admitsDelivery() -> Bool {
        unsafe self.core._withUnsafeGuaranteedRef { core in
            guard core.isOnThread else { return false }
            return unsafe core.state.pointee.budget.consume(at: { MonotonicTime.now })
        }
    }

    /// Counts one delivery against what the loop may do before it polls again, as
    /// ``EventLoop/consumeDeliveryBudget()``.
    package func consumeDeliveryBudget() -> Bool {
        unsafe self.core._withUnsafeGuaranteedRef { core in
            assert(core.isOnThread, "the budget belongs to the loop's thread")
            return unsafe core.state.pointee.budget.consume(at: { MonotonicTime.now })
        }
    }
}
