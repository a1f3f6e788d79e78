internal import Synchronization

/// The queue of the work that is submitted to a loop after it has shut down.
///
/// A Swift executor cannot reject a job, because a task whose job never runs hangs for ever. Waybill
/// therefore starts a thread for work that arrives after the shutdown. The thread runs one item at a time,
/// and ends when the queue is empty.
struct PostShutdownQueue: ~Copyable {
    struct State {
        var work = WorkList()
        var hasThread = false
    }

    private let state = Locked(State())

    /// Appends the work that a closure returns, and returns whether the caller must start a thread that runs
    /// the work.
    ///
    /// The closure runs under the lock.
    func append(_ list: () -> WorkList) -> Bool {
        self.state.withLock { state in
            state.work.append(list())
            guard !state.hasThread, !state.work.isEmpty else { return false }
            state.hasThread = true
            return true
        }
    }

    /// Removes and returns all queued work.
    func take() -> WorkList {
        self.state.withLock { state in
            defer { state.work = WorkList() }
            return state.work
        }
    }

    /// Marks the thread as ended if the queue is empty, and returns whether the thread must end.
    ///
    /// `willEnd` runs under the lock, so that no new thread starts before `willEnd` has returned.
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
    /// Runs an item after the loop has shut down.
    func submitAfterShutdown(_ item: WorkItem) {
        var list = WorkList()
        list.append(item)
        self.submitAfterShutdown { list }
    }

    /// Runs the items that a closure returns, after the loop has shut down.
    ///
    /// The closure runs under the lock of the queue.
    func submitAfterShutdown(_ list: () -> WorkList) {
        // The process of a simulated loop has ended, so the work of the loop must not run.
        if self.host == .simulated { return list().discard() }
        guard self.postShutdownQueue.append(list) else { return }
        LoopThread.start(name: "\(self.name) post-shutdown") { self.runPostShutdownQueue() }
    }

    /// Runs queued work until the queue is empty.
    ///
    /// During this call, the calling thread is the loop's thread, so that work still runs one item at a time.
    private func runPostShutdownQueue() {
        CurrentLoop.enter(self)
        self.thread.store(ThreadID.current, ordering: .relaxed)
        unsafe self.state.pointee.isInCallback = true
        repeat {
            unsafe self.state.pointee.ready.append(self.postShutdownQueue.take())
            while let item = unsafe self.state.pointee.ready.pop() {
                // The loop has nothing to poll, so the delivery budget is refilled before each item.
                unsafe self.state.pointee.budget.refill(at: MonotonicTime.now)
                LoopCounters.increment(self.counters.pops)
                self.run(item)
                // An item may enqueue itself again and again until another item has run. The other item must
                // not starve.
                unsafe self.state.pointee.ready.append(self.postShutdownQueue.take())
            }
        } while !self.postShutdownQueue.end(willEnd: { self.detachAfterShutdown() })
    }

    private func detachAfterShutdown() {
        self.thread.store(ThreadID.none, ordering: .relaxed)
        CurrentLoop.leave(restoring: .none)
    }
}
