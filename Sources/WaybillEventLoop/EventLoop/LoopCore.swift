internal import Synchronization

/// The core of an ``EventLoop``: its queues, its handles, and the thread that runs it.
///
/// The loop and its thread both have a strong reference to the core. The core's reference to the loop
/// (``LoopReference``) does not keep the loop alive. A loop is therefore destroyed when its last reference is
/// dropped, even while its thread sleeps. The `deinit` of the loop then wakes the thread, so that the thread
/// ends. A job needs no reference to the loop: each job holds its actor, and the actor holds its loop.
///
/// The compiler cannot check `Sendable` here. Proof: the member `thread` identifies the only thread that may
/// access `state`. All other members are constant, atomic, or behind a lock.
@safe
final class LoopCore: @unchecked Sendable {
    /// The kind of thread that runs the loop.
    enum Host {
        /// A thread that the loop starts.
        case ownThread
        /// The thread that calls `run()`.
        case caller
        /// The thread that runs the `uv_loop_t` of the program in which the loop is embedded (the host).
        case adopted
        /// The thread that created the loop. The host has an event loop that is not libuv, and calls
        /// `dispatch()` from it to run the work that is due.
        case driven
        /// The thread of a simulation, which takes and runs one item of work at a time.
        case simulated
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
    /// The thread of the simulation; `ThreadID.none` for a loop that is not simulated.
    private let simulator: UInt

    /// The thread that runs the loop, or `ThreadID.none`.
    let thread = Atomic<UInt>(ThreadID.none)

    // Every thread reads the members above. Other threads write the next group of members, and the loop's
    // thread writes the last group.
    private let beforeInbox = CacheLinePadding()
    let inbox = Inbox()
    /// Whether a thread other than the simulation's thread has enqueued work on a simulated loop.
    let hasForeignWork = Atomic<Bool>(false)
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
        do throws(EventLoopError) {
            self.wakeUp = try WakeUp(on: uv)
        } catch {
            // The system has no descriptor left. The loop has no handle yet, so it can be closed.
            uv.close()
            throw error
        }
        self.spin = configuration.idlePolicy.nanoseconds
        self.simulator = host == .simulated ? ThreadID.current : ThreadID.none
        unsafe self.state = .allocate(capacity: 1)
        unsafe self.state.initialize(
            to: LoopState(budget: PollBudget(slice: configuration.timeSlice.wholeNanoseconds))
        )
        var beforePoll = { self.beforePoll() }
        var afterPoll = { self.afterPoll() }
        var onTimer = { self.fireTimers() }
        if self.isHosted {
            beforePoll = { self.whileCurrent { self.beforePoll() } }
            afterPoll = { self.whileCurrent { self.afterPoll() } }
            onTimer = { self.whileCurrent { self.fireTimers() } }
        }
        let handles = try LoopHandles(
            on: uv,
            beforePoll: beforePoll,
            afterPoll: afterPoll,
            onTimer: onTimer
        )
        unsafe self.state.pointee.handles = handles
        if host == .adopted { self.wakeUp.unreference() }
    }

    deinit {
        unsafe self.state.deinitialize(count: 1)
        unsafe self.state.deallocate()
    }

    /// Whether a host's thread runs the loop, possibly together with other loops.
    var isHosted: Bool { self.host == .adopted || self.host == .driven }

    /// The loop, or nil after its last reference is dropped; only the loop's thread may read this property.
    var loop: EventLoop? { unsafe self.state.pointee.reference?.loop }

    /// Whether the calling thread runs the loop.
    @inline(__always)
    var isOnThread: Bool { self.thread.load(ordering: .relaxed) == ThreadID.current }

    /// Enqueues work, from any thread.
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

    /// Makes the loop iterate once more without blocking, for work that was queued outside the loop's
    /// callbacks.
    func keepFromBlocking() {
        unsafe self.state.pointee.handles?.idle.start()
    }

    private func pushForeign(_ item: WorkItem) {
        if self.host == .simulated, ThreadID.current != self.simulator {
            self.hasForeignWork.store(true, ordering: .relaxed)
        }
        // As soon as the item is in the inbox, the loop may run it and drop the last reference to the loop.
        // Keep the core alive until this thread has woken the loop.
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
            // A program cannot continue without the loop that it asked for.
            fatalError("the system cannot create an event loop: \(error)")
        }
    }
}

/// The state that only the loop's thread accesses.
///
/// The state is behind a pointer, because each access to a variable of a class would cost an exclusivity
/// check.
@safe
struct LoopState: ~Copyable {
    /// The work that has been taken from the inbox, or enqueued by the loop's thread, and has not run.
    var ready = WorkList()
    var budget: PollBudget
    var timers = TimerHeap<TimerPayload>()
    /// The deadline for which the libuv timer is armed.
    var armedDeadline: Int64?
    /// The alarm that replaces the libuv timer when a test advances the time by hand.
    var alarm: ManualTime.Alarm?
    /// The handles; nil before the loop is open and after the shutdown has begun.
    var handles: LoopHandles?
    /// Whether a callback of this loop is running.
    ///
    /// After the callback, the loop runs newly queued work before it blocks.
    var isInCallback = false
    /// The reference to the loop; it is set before the loop's initialiser returns.
    var reference: LoopReference?
    /// Keeps the loop's memory allocated, so that no other loop can have the same address.
    unowned var memoryOfLoop: EventLoop?
    var polledAt: Int64 = 0
    /// The time at which work last ran, from which a loop that spins measures its idle period.
    var workedAt: Int64 = 0
    /// The time at which the loop parked; nil while the loop is awake.
    var parkedAt: Int64?
    /// The number of closing handles whose close callback has not run, and of lookups that have not ended.
    var openHandles = 0
    var subscriptions: [UInt64: SignalSubscription] = [:]
    var nextSubscription: UInt64 = 0
    var streams = OpenStreams()
    /// The handle that fires when the main actor has jobs; nil unless this loop runs the main actor.
    var mainQueue: PollHandle?
}
