extension EventLoop {
    /// Counts one delivery against what the loop may do before it polls for I/O and timers again.
    ///
    /// Traps unless the calling thread runs the loop. Once it returns false the caller must suspend, with
    /// ``yield()``: the loop then polls before it runs anything else.
    ///
    /// - Returns: Whether the caller may continue without suspending.
    @inline(__always)
    package func consumeDeliveryBudget() -> Bool {
        precondition(self.isInEventLoop, "the budget belongs to the loop's thread")
        return unsafe self.core.state.pointee.budget.consume(at: { MonotonicTime.now })
    }

    /// Counts one unit of work against the budget of the loop that the caller is on, if it is on one, and
    /// lets the loop poll when the budget is used up.
    ///
    /// Every public call that may return without having suspended begins with this: a caller on a loop that
    /// repeats it for ever delays neither timers nor I/O. A caller that is not isolated to an actor may start
    /// on the loop's thread and be on another when this returns.
    package static nonisolated(nonsending) func yieldIfDue() async {
        // Once: to wait again would be to lose the place before what has come since.
        if let loop = EventLoop.current, !loop.consumeDeliveryBudget() { await loop.yield() }
    }

    /// Suspends the caller until the jobs before this one have run, and the loop has polled if its budget is
    /// used up; a caller that is isolated to the loop goes on before the jobs that come after this.
    package nonisolated(nonsending) func yield() async {
        let task = SuspendedTask(on: self)
        self.execute { task.resumeInPlace() }
        await task.wait()
    }
}

/// How long a loop may run work before it polls for I/O and timers again.
///
/// Work is counted, and the clock is read once per grain of 1 to 64 units. Grains shrink when the work is
/// slow and grow when it is fast, so that reading the clock costs little and the slice is not exceeded by
/// much.
struct PollBudget {
    private static let largestGrain = 64

    /// Nanoseconds of work between two polls.
    let slice: Int64

    private var polledAt: Int64 = 0
    private var grainBeganAt: Int64 = 0
    private var grain = 8
    private var left = 0

    init(slice: Int64) {
        self.slice = slice
    }

    /// Fills the budget up: the loop has just polled.
    mutating func refill(at now: Int64) {
        self.polledAt = now
        self.grainBeganAt = now
        self.left = self.grain
    }

    /// Takes one unit.
    ///
    /// - Parameter now: Nanoseconds; asked for only when a grain is used up.
    /// - Returns: Whether there was one left. Once it is false it stays so until the next refill.
    @inline(__always)
    mutating func consume(at now: () -> Int64) -> Bool {
        self.left &-= 1
        if self.left >= 0 { return true }
        return self.startGrain(at: now())
    }

    /// Whether the last unit is used up, as far as is known without reading the clock.
    var isExhausted: Bool { self.left < 0 }

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
