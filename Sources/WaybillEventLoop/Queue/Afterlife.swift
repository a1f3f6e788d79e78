/// The work that arrives for a loop that is gone.
///
/// A Swift executor cannot refuse a job: a task whose job never runs hangs for ever. So late work runs on a thread that is
/// started for it, one item after the other, and ends when there is no more.
struct Afterlife: ~Copyable {
    struct State {
        var work = WorkList()
        var hasThread = false
    }

    private let state = Locked(State())

    /// Leaves work.
    ///
    /// - Returns: Whether the caller has to start a thread that takes it.
    func leave(_ list: WorkList) -> Bool {
        self.state.withLock { state in
            state.work.append(list)
            guard !state.hasThread, !state.work.isEmpty else { return false }
            state.hasThread = true
            return true
        }
    }

    /// Takes what has been left.
    func take() -> WorkList {
        self.state.withLock { state in
            defer { state.work = WorkList() }
            return state.work
        }
    }

    /// Ends the thread's duty, if there is nothing left.
    ///
    /// - Parameter willEnd: Runs under the lock, so that the next thread cannot start before it is done.
    /// - Returns: Whether the thread has to end.
    func end(willEnd: () -> Void) -> Bool {
        self.state.withLock { state in
            guard state.work.isEmpty else { return false }
            willEnd()
            state.hasThread = false
            return true
        }
    }
}
