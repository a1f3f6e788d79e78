internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The bounded queue in front of a module, and the place where its handlers are called: the module's loop.
///
/// A message that is awaited comes with its caller's task and waits in the loop's queue; one that nobody awaits waits in
/// ``posted``. The loop runs those; an awaited message lets it run first what was posted before, so that one sender's
/// messages are handled in the order sent. In a serial mailbox awaited messages wait in a ``line``, each with its place
/// among those that were posted.
actor Mailbox: LoopBound {
    nonisolated let eventLoop: EventLoop
    nonisolated let unretainedLoop: UnretainedEventLoop

    nonisolated let limit: Int
    nonisolated let whenFull: MailboxConfiguration.Overflow
    nonisolated let isSerial: Bool

    /// Whose mailbox it is, if it is in front of an actor.
    nonisolated let owner: ObjectIdentifier?
    private nonisolated let ownerType: (any LoopBound.Type)?

    /// The name of that actor's type.
    nonisolated var module: String? { self.ownerType.map { "\($0)" } }

    /// Messages that were given to the mailbox and have not been started; in a serial one also the one in progress.
    ///
    /// Those that take up a place are counted in the lower half, a ``visitor`` in the upper one.
    nonisolated let waiting = Atomic<Int>(0)

    /// Whether there are such messages, as far as the calling thread knows.
    @inline(__always)
    nonisolated var isOccupied: Bool { self.waiting.load(ordering: .relaxed) > 0 }

    /// How many of those that are started next have to be dropped, so that the limit holds.
    nonisolated let excess = Atomic<Int>(0)

    nonisolated let posted = Locked(PostBox())

    /// What has been taken out of ``posted`` and not been started.
    var batch = UniqueDeque<Parcel>()

    /// The number of the first message of ``batch``, or, if that is empty, at most that of what comes next.
    var number = 0

    /// Whose tasks wait in a serial mailbox, in order.
    var line: Deque<Turn> = []

    /// The number of the message before which the first of them comes; none that there is if nobody waits.
    var turnNumber = Int.max

    /// The message that a serial mailbox is busy with.
    var inProgress: CorrelationID?
    var isAdvancing = false
    /// Whether the next message is started when the loop has polled.
    var isPausing = false

    /// How many senders wait for a place, or are about to.
    nonisolated let sendersWaiting = Atomic<Int>(0)

    /// Whether the loop is about to look who waits for a place that somebody has given back.
    nonisolated let isLookedAfter = Atomic<Bool>(false)

    /// Who waits for a place in a mailbox that suspends its senders.
    var places: Deque<Place> = []

    /// Keeps plain closures on the loop.
    ///
    /// A closure with a capture list is `@concurrent`, whatever the type that it is passed as says (Swift 6.3): without
    /// a preference it would run on the global executor.
    nonisolated let taskExecutor: EventLoopTaskExecutor?

    init(
        eventLoop: EventLoop,
        configuration: MailboxConfiguration,
        limit: Int,
        owner: (any LoopBound)? = nil
    ) {
        self.eventLoop = eventLoop
        self.unretainedLoop = UnretainedEventLoop(eventLoop)
        let limit = configuration.limit ?? limit
        // One that is not serial would take nothing that has to wait for the loop.
        self.limit = max(limit, configuration.isSerial ? 0 : 1)
        self.whenFull = configuration.whenFull
        self.isSerial = configuration.isSerial
        self.owner = owner.map { ObjectIdentifier($0) }
        self.ownerType = owner.map { type(of: $0) }
        self.taskExecutor = owner == nil ? eventLoop.taskExecutor : nil
    }

    /// How many messages may be waiting, one that is in progress included.
    nonisolated var capacity: Int { self.isSerial ? self.limit + 1 : self.limit }
}
