internal import Synchronization

/// The core of an ``EventLoop``: its queues, its handles, and the thread that runs it.
///
/// The loop and its thread both hold the core, and the core holds only the loop's memory (``LoopReference``).
/// So a loop whose last reference is dropped is destroyed although its thread sleeps, and its `deinit` wakes
/// the thread to end it. Jobs need no other reference: each holds its actor, and the actor its loop.
///
/// The compiler cannot check `Sendable` here. What makes it so: `state` is touched by one thread at a time,
/// the one that `thread` names; all else is constant, atomic, or behind a lock.
@safe
final class LoopCore: @unchecked Sendable {
    /// The thread that runs the loop.
    enum Host {
        /// A thread of the loop's own.
        case ownThread
        /// The thread that calls `run()`.
        case caller
        /// The thread that runs a host's `uv_loop_t`.
        case adopted
        /// The thread that made it, which runs it now and then from a loop of its own.
        case driven
    }

    let name: String
    let host: Host
    let configuration: EventLoop.Configuration
    let postShutdownQueue = PostShutdownQueue()
    let lifecycle = LoopLifecycle()
    let uv: UVLoop
    let wakeUp: WakeUp
    let state: UnsafeMutablePointer<LoopState>
    let spin: Int64

    /// The thread that runs the loop at this moment, or none.
    let thread = Atomic<UInt>(ThreadID.none)

    // Above is what every thread reads, then what foreign threads write, then what the loop's thread writes.
    private let beforeInbox = CacheLinePadding()
    let inbox = Inbox()
    private let beforeCounters = CacheLinePadding()
    let counters = LoopCounters()

    init(
        name: String,
        host: Host,
        on uv: UVLoop,
        configuration: EventLoop.Configuration
    ) throws(EventLoopError) {
        self.name = name
        self.host = host
        self.configuration = configuration
        self.uv = uv
        self.wakeUp = try WakeUp(on: uv)
        self.spin = configuration.idlePolicy.nanoseconds
        unsafe self.state = .allocate(capacity: 1)
        unsafe self.state.initialize(
            to: LoopState(budget: PollBudget(slice: configuration.timeSlice.wholeNanoseconds))
        )
        let handles = try LoopHandles(
            on: uv,
            beforePoll: { self.beforePoll() },
            afterPoll: { self.afterPoll() },
            onTimer: { self.fireTimers() }
        )
        unsafe self.state.pointee.handles = handles
        if host == .adopted { self.wakeUp.unreference() }
    }

    deinit {
        unsafe self.state.deinitialize(count: 1)
        unsafe self.state.deallocate()
    }

    /// The loop, or nil once its last reference is gone; for the loop's thread.
    var loop: EventLoop? { unsafe self.state.pointee.reference?.loop }

    /// Whether the calling thread is the one that runs the loop.
    @inline(__always)
    var isOnThread: Bool { self.thread.load(ordering: .relaxed) == ThreadID.current }

    /// Queues work, from any thread.
    @inline(__always)
    func submit(_ item: WorkItem) {
        if self.isOnThread {
            self.pushLocal(item)
        } else {
            self.pushForeign(item)
        }
    }

    private func pushLocal(_ item: WorkItem) {
        unsafe self.state.pointee.ready.append(item)
        LoopCounters.increment(self.counters.localPushes)
        if unsafe !self.state.pointee.isInCallback { self.keepFromBlocking() }
    }

    /// Makes the loop iterate once more without blocking: work was queued outside of its callbacks.
    func keepFromBlocking() {
        unsafe self.state.pointee.handles?.idle.start()
    }

    private func pushForeign(_ item: WorkItem) {
        // Once published the item may run and drop the last reference to the loop before this thread has
        // woken it.
        var kept: Unmanaged<LoopCore>?
        switch self.inbox.push(item, willWake: { unsafe kept = Unmanaged.passRetained(self) }) {
        case .queued: break
        case .wake: self.wakeUp.signal()
        case .closed: self.submitAfterShutdown(item)
        }
        if let kept = unsafe kept { unsafe kept.release() }
    }
}

extension LoopCore {
    static var defaultName: String { "event-loop" }

    /// Creates the core of a loop that Waybill owns.
    static func make(name: String?, host: Host, configuration: EventLoop.Configuration) -> LoopCore {
        do throws(EventLoopError) {
            return try LoopCore(
                name: name ?? self.defaultName,
                host: host,
                on: UVLoop(),
                configuration: configuration
            )
        } catch {
            // No caller of `EventLoop()` could continue without its loop.
            fatalError("no event loop: \(error)")
        }
    }
}

/// The state that only the loop's thread touches.
///
/// It sits behind a pointer and not in the variables of a class, where each access would cost an exclusivity
/// check.
@safe
struct LoopState: ~Copyable {
    /// Work that has been taken and not run.
    var ready = WorkList()
    var budget: PollBudget
    var timers = TimerHeap<TimerPayload>()
    /// The deadline that the libuv timer is armed for.
    var armedDeadline: Int64?
    /// What stands for the libuv timer where the time is advanced by hand.
    var alarm: ManualTime.Alarm?
    /// Nil before the loop is open and after it has closed.
    var handles: LoopHandles?
    /// Whether a callback of this loop is running, so that what is queued now is seen before the loop blocks.
    var isInCallback = false
    /// The reference to the loop; set before the loop's initialiser returns.
    var reference: LoopReference?
    /// Keeps the loop's memory, so that no other loop is ever taken for it.
    unowned var memoryOfLoop: EventLoop?
    var polledAt: Int64 = 0
    /// When work was run last; a loop that spins counts from then on.
    var workedAt: Int64 = 0
    /// When the loop went to sleep, if it sleeps.
    var parkedAt: Int64?
    /// Handles whose close callback is still to come.
    var openHandles = 0
    var subscriptions: [UInt64: SignalSubscription] = [:]
    var nextSubscription: UInt64 = 0
    var streams = OpenStreams()
    /// What tells that the main actor has something to do, if this loop runs it.
    var mainQueue: PollHandle?
}
