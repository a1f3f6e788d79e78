/// What only the loop's thread touches.
///
/// It sits behind a pointer and not in the variables of a class, where each access would cost an exclusivity check.
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
    /// Whether one of our callbacks is running, so that what is queued now will be seen before the loop blocks.
    var isTurning = false
    /// The way to the loop; set before the loop is handed to anybody.
    var reference: LoopReference?
    /// Keeps the loop's memory, so that no other loop is ever taken for it.
    unowned var memoryOfLoop: EventLoop?
    var polledAt: Int64 = 0
    /// When work was run last; a loop spins from then on.
    var workedAt: Int64 = 0
    /// When the loop went to sleep, if it sleeps.
    var parkedAt: Int64?
    /// Handles whose close callback is still to come.
    var openHandles = 0
    var subscriptions: [UInt64: SignalSubscription] = [:]
    var nextSubscription: UInt64 = 0
}
