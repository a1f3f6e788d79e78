internal import Synchronization

/// What a loop tells about itself; written by its thread alone, read by anybody.
///
/// With one writer a count is a load and a store, not a locked instruction.
struct LoopCounters: ~Copyable {
    /// Jobs, closures and timers that have been started.
    let runs = Atomic<UInt>(0)
    /// Items that the loop's own thread has queued.
    let localPushes = Atomic<UInt>(0)
    /// Queued items that have been started.
    let pops = Atomic<UInt>(0)
    /// Nanoseconds without anything to do.
    let idle = Atomic<Int64>(0)
    /// Timers that wait.
    let timers = Atomic<Int>(0)
    /// Whether the loop runs work at this moment.
    let isBusy = Atomic<Bool>(false)

    @inline(__always)
    static func increment(_ counter: borrowing Atomic<UInt>) {
        counter.store(counter.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }
}
