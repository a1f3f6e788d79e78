internal import Synchronization

/// The work that is submitted to a loop after it has shut down.
///
/// A Swift executor cannot refuse a job: a task whose job never runs hangs for ever. So work that arrives
/// after the shutdown runs on a thread that is started for it, one item at a time, and that ends when the
/// queue is empty.
struct PostShutdownQueue: ~Copyable {
    struct State {
        var work = WorkList()
        var hasThread = false
    }

    private let state = Locked(State())

    /// Appends work.
    ///
    /// - Returns: Whether the caller has to start a thread that takes it.
    func append(_ list: WorkList) -> Bool {
        self.state.withLock { state in
            state.work.append(list)
            guard !state.hasThread, !state.work.isEmpty else { return false }
            state.hasThread = true
            return true
        }
    }

    /// Removes all work that is queued.
    func take() -> WorkList {
        self.state.withLock { state in
            defer { state.work = WorkList() }
            return state.work
        }
    }

    /// Releases the thread if the queue is empty.
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
    /// Runs an item after the loop has shut down.
    func submitAfterShutdown(_ item: WorkItem) {
        var list = WorkList()
        list.append(item)
        self.submitAfterShutdown(list)
    }

    /// Runs items after the loop has shut down.
    func submitAfterShutdown(_ list: WorkList) {
        guard self.postShutdownQueue.append(list) else { return }
        LoopThread.start(name: "\(self.name) post-shutdown") { self.runPostShutdownQueue() }
    }

    /// Runs queued work until there is none.
    ///
    /// The calling thread becomes the loop's thread meanwhile, so that work still runs one item at a time.
    private func runPostShutdownQueue() {
        unsafe CurrentLoop.core = Unmanaged.passUnretained(self)
        self.thread.store(ThreadID.current, ordering: .relaxed)
        unsafe self.state.pointee.isInCallback = true
        repeat {
            unsafe self.state.pointee.ready.append(self.postShutdownQueue.take())
            while let item = unsafe self.state.pointee.ready.pop() {
                // There is nothing to poll, so the delivery budget never runs out.
                unsafe self.state.pointee.budget.refill(at: MonotonicTime.now)
                LoopCounters.increment(self.counters.pops)
                self.run(item)
                // An item that queues itself until another one has run must not starve that other one.
                unsafe self.state.pointee.ready.append(self.postShutdownQueue.take())
            }
        } while !self.postShutdownQueue.end(willEnd: { self.detachAfterShutdown() })
    }

    private func detachAfterShutdown() {
        self.thread.store(ThreadID.none, ordering: .relaxed)
        unsafe CurrentLoop.core = nil
    }
}
