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
        while let list = self.afterlife.next(willEnd: { self.endAfterlife() }) {
            unsafe self.state.pointee.ready.append(list)
            while let item = unsafe self.state.pointee.ready.pop() {
                // There is nothing to poll: whoever minds the budget may always go on.
                unsafe self.state.pointee.budget.refill(at: MonotonicTime.now)
                self.run(item)
            }
        }
    }

    private func endAfterlife() {
        self.thread.store(ThreadID.none, ordering: .relaxed)
        unsafe CurrentLoop.core = nil
    }
}
