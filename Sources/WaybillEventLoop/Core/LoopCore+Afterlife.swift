internal import Synchronization

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
