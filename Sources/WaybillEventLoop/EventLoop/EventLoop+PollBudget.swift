extension EventLoop {
    /// Counts one delivery against the work that the loop may run before it polls for I/O and timers again.
    ///
    /// Traps unless the calling thread runs the loop. When the result is false, the caller must suspend with
    /// ``yield()``: the loop then polls before it runs other work.
    ///
    /// - Returns: Whether the caller may continue without suspending.
    package func consumeDeliveryBudget() -> Bool {
        precondition(self.isInEventLoop, "internal error: the budget of a loop was used on another thread")
        return unsafe self.core.state.pointee.budget.consume(at: { MonotonicTime.now })
    }

    /// Counts one unit of work against the budget of the current loop, and lets the loop poll when the budget
    /// is used up.
    ///
    /// Does nothing if the calling thread does not run a loop. Every public function that may return without
    /// suspending calls this method: first, or last if the order of its calls matters. A caller on a loop may
    /// then repeat the public function for ever, and timers and I/O are not delayed.
    ///
    /// A caller that is not isolated to an actor may start on the loop's thread and continue on another
    /// thread.
    package static nonisolated(nonsending) func yieldIfDue() async {
        // Yield once only: a second yield would move the caller behind jobs that were enqueued after it.
        if let loop = EventLoop.current, !loop.consumeDeliveryBudget() { await loop.yield() }
    }

    /// Suspends the caller until the jobs that are already queued have run.
    ///
    /// If the budget is used up, the loop also polls first. A caller that is isolated to the loop resumes
    /// before jobs that are enqueued after this call.
    package nonisolated(nonsending) func yield() async {
        let task = SuspendedTask(on: self)
        self.execute { task.resumeInPlace() }
        await task.wait()
    }
}

/// The budget that limits how long a loop runs work before it polls for I/O and timers again.
///
/// Work is counted in units. The clock is read once per *grain*, which is a group of 1 to 64 units. A grain
/// shrinks when the work is slow and grows when it is fast. Reading the clock therefore costs little, and the
/// loop exceeds the time slice only slightly.
struct PollBudget {
    private static let largestGrain = 64

    /// The time between two polls, in nanoseconds.
    let slice: Int64

    private var polledAt: Int64 = 0
    private var grainBeganAt: Int64 = 0
    private var grain = 8
    private var left = 0

    init(slice: Int64) {
        self.slice = slice
    }

    /// Refills the budget after the loop has polled.
    mutating func refill(at now: Int64) {
        self.polledAt = now
        self.grainBeganAt = now
        self.left = self.grain
    }

    /// Sets the number of units until the next refill, for a slice of zero.
    mutating func limit(to units: Int) { self.left = units }

    /// Consumes one unit, and returns whether a unit was left.
    ///
    /// `now` returns the time in nanoseconds, and is called only when a grain is used up. After the first
    /// false result, the result is false until the next refill.
    @inline(__always)
    mutating func consume(at now: () -> Int64) -> Bool {
        self.left &-= 1
        if self.left >= 0 { return true }
        return self.startGrain(at: now())
    }

    @inline(never)
    private mutating func startGrain(at now: Int64) -> Bool {
        let took = now - self.grainBeganAt
        self.grainBeganAt = now
        if took > self.slice / 4 {
            self.grain = max(1, self.grain / 4)
        } else if took < self.slice / 16 {
            self.grain = min(Self.largestGrain, self.grain * 2)
        }
        guard now - self.polledAt < self.slice else {
            self.left = -1
            return false
        }
        self.left = self.grain - 1
        return true
    }
}
