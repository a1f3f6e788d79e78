internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// A message that no caller awaits, where it goes, and the obligation to end it.
///
/// It moves from its sender through the mailbox to the loop, and no reference in it is counted on the way.
struct Envelope: ~Copyable, Sendable {
    let message: Message
    let ticket: MessageTicket
    /// The handler, or that there is none: the middlewares of the bus see such a message, too.
    let target: Target
    let core: BusCore
    /// The middlewares that the message meets when its turn comes, if there are any.
    ///
    /// They are not in the message: a middleware that keeps messages would keep itself.
    var chain: MiddlewareChain?

    /// Ends a message that its handler does not get.
    ///
    /// - Parameters:
    ///   - recipient: Who learns the reason.
    ///   - reason: Makes the reason for the URL of the message.
    /// - Returns: The reason, with the route of the handler.
    @inline(never)
    @discardableResult
    consuming func reject(
        for recipient: Recipient = .nobody,
        _ reason: (String) -> RoutingError
    ) -> RoutingError {
        let (core, message, handler) = (self.core, self.message, self.target.handler)
        let error = reason(message.parameters.url).at(handler)
        core.settle(
            self.ticket,
            as: .failed(error),
            of: message,
            for: recipient,
            at: handler,
            on: core.currentShard
        )
        return error
    }
}

/// What waits in a mailbox, oldest first.
///
/// It decides and ``Mailbox`` acts, outside the lock that this is behind. Each message that waits has one of
/// the slots that the mailbox's limit allows, and so has the message in progress of a serial mailbox. A
/// message whose caller awaits it has none where the mailbox suspends its senders: its caller is suspended as
/// it is.
struct MailboxQueue: ~Copyable, Sendable {
    /// One message.
    enum Entry: ~Copyable, Sendable {
        case sent(Envelope)
        case awaited(AwaitedMessage)
    }

    /// A message that its caller awaits.
    ///
    /// The numbers that the queue counts are copied here: reading memory that another core has just written
    /// would stall the loop while it holds the lock.
    struct AwaitedMessage: ~Copyable, Sendable {
        let task: QueuedTask
        let takesSlot: Bool
        let hasExchange: Bool

        init(_ task: QueuedTask) {
            self.task = task
            self.takesSlot = task.takesSlot
            self.hasExchange = task.exchange != nil
        }
    }

    let limit: Int
    let whenFull: MailboxConfiguration.Overflow
    let isSerial: Bool

    private var entries = UniqueDeque<Entry>()
    /// How many of the entries have a slot.
    private var slots = 0
    /// How many of the entries have an exchange, which may end before their turn comes.
    private var exchanges = 0
    /// The message that a serial mailbox is busy with.
    private(set) var inProgress: CorrelationID?
    /// Whether the loop is going to look at the queue, or looks at it now.
    private var isDraining = false
    /// The tasks that wait for a slot in a mailbox that suspends its senders, in the order of arrival.
    private var senders: Deque<LoopContinuation<Bool>> = []

    /// What the caller of a change has to do.
    enum Effect: ~Copyable {
        /// Nothing.
        case none
        /// Have the loop drain the queue.
        case drain
        /// The message was not taken.
        case full
        /// The message was taken in the place of the oldest one, which is dropped.
        case dropped(Entry, isDue: Bool)
    }

    init(limit: Int, whenFull: MailboxConfiguration.Overflow, isSerial: Bool) {
        self.limit = limit
        self.whenFull = whenFull
        self.isSerial = isSerial
    }

    /// How many messages wait or are in progress: while there are none, a message may run at once.
    var occupancy: Int { self.entries.count + (self.inProgress == nil ? 0 : 1) }

    /// Whether all slots are taken.
    ///
    /// A serial mailbox has one more, for the message in progress or the first to come.
    var isFull: Bool {
        self.isSerial
            ? self.slots + (self.inProgress == nil ? 0 : 1) > self.limit : self.slots >= self.limit
    }

    /// Takes a message that no caller awaits, unless all slots are taken; a message that is not taken stays
    /// where it is.
    mutating func send(_ envelope: inout Envelope?) -> Effect {
        guard let effect = self.makeRoom() else { return .full }
        guard let taken = envelope.take() else { return effect }
        self.slots += 1
        self.entries.append(.sent(taken))
        return self.drain(after: effect)
    }

    /// Takes a message that no caller awaits and whose sender has a slot for it.
    mutating func send(inSlot envelope: consuming Envelope) -> Effect {
        self.entries.append(.sent(envelope))
        return self.drain(after: .none)
    }

    /// Takes the task of an awaited message.
    mutating func wait(_ task: QueuedTask) -> Effect {
        let awaited = AwaitedMessage(task)
        guard let effect = awaited.takesSlot ? self.makeRoom() : Effect.none else { return .full }
        if awaited.takesSlot { self.slots += 1 }
        if awaited.hasExchange { self.exchanges += 1 }
        task.hasEntered.store(true, ordering: .relaxed)
        self.entries.append(.awaited(awaited))
        return self.drain(after: effect)
    }

    /// Starts an awaited message, if nothing is before it.
    mutating func start(_ id: CorrelationID) -> Bool {
        guard self.occupancy == 0 else { return false }
        if self.isSerial { self.inProgress = id }
        return true
    }

    /// The next message to start; nil if the loop need not look again before the next ``Effect/drain``.
    mutating func next() -> Entry? {
        guard self.inProgress == nil, let entry = self.entries.popFirst() else {
            self.isDraining = false
            return nil
        }
        self.forget(entry)
        if self.isSerial { self.inProgress = entry.id }
        return entry
    }

    /// Ends the message in progress of a serial mailbox.
    mutating func end() -> Effect {
        self.inProgress = nil
        return self.drain(after: .none)
    }

    /// Takes a task out that no longer waits; false if it is not in the queue any more.
    ///
    /// It is looked for from both ends: when many are taken out, it is in the order in which they came, or the
    /// other way round.
    mutating func withdraw(_ task: QueuedTask) -> Bool {
        guard task.hasEntered.load(ordering: .relaxed), !task.isResumed else { return false }
        var (first, last) = (0, self.entries.count - 1)
        while first <= last {
            if self.entries[first].task === task { return self.remove(at: first) }
            if self.entries[last].task === task { return self.remove(at: last) }
            (first, last) = (first + 1, last - 1)
        }
        return false
    }

    private mutating func remove(at index: Int) -> Bool {
        self.forget(self.entries.remove(at: index))
        return true
    }

    /// Takes the messages out whose handlers are no longer registered.
    mutating func removeUnreachable() -> UniqueDeque<Entry> {
        var removed = UniqueDeque<Entry>()
        for _ in 0..<self.entries.count {
            guard let entry = self.entries.popFirst() else { break }
            if entry.handler?.isGone == true {
                self.forget(entry)
                removed.append(entry)
            } else {
                self.entries.append(entry)
            }
        }
        return removed
    }

    /// Makes room for one more message.
    ///
    /// - Returns: what that takes; nil if there is no room.
    @inline(__always)
    private mutating func makeRoom() -> Effect? { self.isFull ? self.displace() : Effect.none }

    @inline(never)
    private mutating func displace() -> Effect? {
        guard self.whenFull == .dropOldest else { return nil }
        // A message whose exchange is over makes room, and no other message is lost for it.
        if self.exchanges > 0, let index = self.firstOverInSlot { return self.drop(at: index) }
        for index in self.entries.indices where self.entries[index].takesSlot {
            return self.drop(at: index)
        }
        return nil
    }

    /// The oldest entry that counts against the limit although its exchange is over.
    private var firstOverInSlot: Int? {
        for index in self.entries.indices where self.entries[index].takesSlot {
            if self.entries[index].task?.exchange?.isOver == true { return index }
        }
        return nil
    }

    private mutating func drop(at index: Int) -> Effect {
        let entry = self.entries.remove(at: index)
        self.forget(entry)
        return .dropped(entry, isDue: false)
    }

    /// Counts an entry less.
    private mutating func forget(_ entry: borrowing Entry) {
        if entry.takesSlot { self.slots -= 1 }
        if entry.hasExchange { self.exchanges -= 1 }
    }

    /// Has the loop drain the queue, if there is something to drain and it is not going to anyway.
    private mutating func drain(after effect: consuming Effect) -> Effect {
        if self.isDraining || self.inProgress != nil || self.entries.isEmpty { return effect }
        self.isDraining = true
        switch consume effect {
        case .dropped(let entry, _): return .dropped(entry, isDue: true)
        default: return .drain
        }
    }
}

// Tasks that wait for a slot.
extension MailboxQueue {
    /// Takes a slot for a sender, unless others wait for one: a sender that is quick enough would take every
    /// slot that becomes free.
    mutating func takeSlot() -> Bool {
        guard self.senders.isEmpty, !self.isFull else { return false }
        self.slots += 1
        return true
    }

    /// Has a sender wait for a slot.
    ///
    /// - Returns: false if it has one now.
    mutating func wait(_ sender: LoopContinuation<Bool>) -> Bool {
        if self.takeSlot() { return false }
        self.senders.append(sender)
        return true
    }

    /// Gives a free slot to the sender that has waited longest, if there is one of each.
    mutating func grantSlot() -> LoopContinuation<Bool>? {
        guard !self.isFull, let sender = self.senders.popFirst() else { return nil }
        self.slots += 1
        return sender
    }

    /// Takes a sender out that no longer waits; false if it is not in the queue any more.
    mutating func withdraw(_ sender: LoopContinuation<Bool>) -> Bool {
        guard let index = self.senders.firstIndex(where: { $0 === sender }) else { return false }
        self.senders.remove(at: index)
        return true
    }

    /// Takes all senders out: they have to check whether their handlers are still registered.
    mutating func removeSenders() -> Deque<LoopContinuation<Bool>> {
        defer { self.senders = [] }
        return self.senders
    }
}

extension MailboxQueue.Entry {
    var id: CorrelationID {
        switch self {
        case .sent(let envelope): envelope.message.id
        case .awaited(let awaited): awaited.task.message.id
        }
    }

    var handler: Handler? {
        switch self {
        case .sent(let envelope): envelope.target.handler
        case .awaited(let awaited): awaited.task.handler
        }
    }

    var task: QueuedTask? {
        switch self {
        case .sent: nil
        case .awaited(let awaited): awaited.task
        }
    }

    /// Whether it counts against the limit.
    var takesSlot: Bool {
        switch self {
        case .sent: true
        case .awaited(let awaited): awaited.takesSlot
        }
    }

    /// Whether it has an exchange, which may end before its turn comes.
    var hasExchange: Bool {
        switch self {
        case .sent: false
        case .awaited(let awaited): awaited.hasExchange
        }
    }

    /// Ends the message without its handler.
    consuming func fail(_ reason: (String) -> RoutingError) {
        switch consume self {
        case .sent(let envelope): envelope.reject(reason)
        case .awaited(let awaited): awaited.task.reject(reason(awaited.task.url))
        }
    }
}
