internal import Synchronization

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

extension LoopCore {
    /// Has an item run although the loop is gone.
    func leaveToAfterlife(_ item: WorkItem) {
        var list = WorkList()
        list.append(item)
        self.leaveToAfterlife(list)
    }

    /// Has items run although the loop is gone.
    func leaveToAfterlife(_ list: WorkList) {
        guard self.afterlife.leave(list) else { return }
        LoopThread.start(name: "\(self.name) late") { self.runAfterlife() }
    }

    /// Runs late work until there is none.
    ///
    /// The thread takes the loop's place: it counts as the loop's thread and runs one item at a time.
    private func runAfterlife() {
        unsafe CurrentLoop.core = Unmanaged.passUnretained(self)
        self.thread.store(ThreadID.current, ordering: .relaxed)
        unsafe self.state.pointee.isTurning = true
        repeat {
            unsafe self.state.pointee.ready.append(self.afterlife.take())
            while let item = unsafe self.state.pointee.ready.pop() {
                // There is nothing to poll: whoever minds the budget may always go on.
                unsafe self.state.pointee.budget.refill(at: MonotonicTime.now)
                self.run(item)
                // An item that queues itself until another one has run must not keep that one out.
                unsafe self.state.pointee.ready.append(self.afterlife.take())
            }
        } while !self.afterlife.end(willEnd: { self.endAfterlife() })
    }

    private func endAfterlife() {
        self.thread.store(ThreadID.none, ordering: .relaxed)
        unsafe CurrentLoop.core = nil
    }
}
