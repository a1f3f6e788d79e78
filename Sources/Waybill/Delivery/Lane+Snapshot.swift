internal import Synchronization
internal import WaybillEventLoop

// A handler that is called in place, and a message that meets middlewares, use what the loop's snapshot holds and count no
// reference to it, which takes as long as a middleware does. So a snapshot that is replaced meanwhile is kept until
// nobody can be using it. All of this is for the loop's thread.
extension Lane {
    /// Has the loop see other routes.
    func use(_ snapshot: Snapshot) {
        let old = self.snapshot.load()
        self.snapshot.store(snapshot)
        if self.isUsed {
            self.replaced.store(self.replaced.load() + [old])
            self.isKeeping.store(true, ordering: .relaxed)
            self.letGoLater()
        }
        // What the last holder of a handler lets go of may use the bus, and so this lane.
        _ = consume old
    }

    /// Whether somebody may be using the loop's snapshot: a handler below the caller on the stack, or a message that has pinned it.
    ///
    /// Who has pinned one while replaced ones are kept has pinned one of those.
    private var isUsed: Bool {
        self.isCalling || self.pins.load(ordering: .relaxed) > 0 && !self.isKeeping.load(ordering: .relaxed)
    }

    /// Keeps the loop's snapshot until ``unpin()``.
    ///
    /// - Returns: false if a reference has to be counted instead: so that those who have pinned a replaced one become fewer, and
    ///   it goes, however many messages there are.
    @inline(__always)
    func pin() -> Bool {
        guard !self.isKeeping.load(ordering: .relaxed) else { return false }
        self.pins.store(self.pins.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        return true
    }

    @inline(__always)
    func unpin() {
        let pins = self.pins.load(ordering: .relaxed) &- 1
        self.pins.store(pins, ordering: .relaxed)
        if pins == 0, self.isKeeping.load(ordering: .relaxed) { self.letGoLater() }
    }

    /// Lets go of what was replaced, when no handler is being called in place any more.
    @inline(never)
    private func letGoLater() {
        self.eventLoop.execute {
            guard self.pins.load(ordering: .relaxed) == 0 else { return }
            let old = self.replaced.load()
            self.replaced.store([])
            self.isKeeping.store(false, ordering: .relaxed)
            _ = consume old
        }
    }
}
