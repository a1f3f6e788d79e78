internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// A message that no caller awaits, with its target and the obligation to end it.
///
/// The envelope is moved from its sender through the mailbox to the loop, without reference counting on the
/// way.
struct Envelope: ~Copyable, Sendable {
    let message: Message
    let ticket: MessageTicket
    /// The handler that is to receive the message, or the reason why there is none.
    ///
    /// A message without a handler still passes through the middlewares of the bus.
    let target: Target
    let core: BusCore
    /// The middlewares to call when the message's turn comes; nil if there are none.
    ///
    /// The chain is not stored in the message, because a middleware that keeps messages would then keep
    /// itself.
    var chain: MiddlewareChain?

    /// Ends a message that does not reach its handler.
    ///
    /// - Parameters:
    ///   - recipient: The recipient of the error.
    ///   - reason: A closure that makes the error for the URL of the message.
    /// - Returns: The error, with the route of the handler.
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

/// The waiting messages of a mailbox, oldest first.
///
/// The queue decides, and ``Mailbox`` acts on the decision outside of the lock. The mailbox's limit is a
/// number of slots. Each waiting message has a slot, and so has the message in progress of a serial mailbox.
/// There is one exception: where the mailbox suspends its senders, an awaited message needs no slot, because
/// its caller is already suspended.
struct MailboxQueue: ~Copyable, Sendable {
    /// One message.
    enum Entry: ~Copyable, Sendable {
        case sent(Envelope)
        case awaited(AwaitedMessage)
    }

    /// A message that its caller awaits.
    ///
    /// The values that the queue counts are copied into this structure. Reading memory that another core has
    /// just written would stall the loop while it holds the lock.
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
    /// The number of entries that have a slot.
    private var slots = 0
    /// The number of entries that have an exchange, which may end before their turn comes.
    private var exchanges = 0
    /// The message that a serial mailbox is handling.
    private(set) var inProgress: CorrelationID?
    /// Whether the loop drains the queue now or is scheduled to drain it.
    private var isDraining = false
    /// The tasks that wait for a slot in a mailbox that suspends its senders, in the order of arrival.
    private var senders: Deque<LoopContinuation<Bool>> = []

    /// The action that a change of the queue requires from its caller.
    enum Effect: ~Copyable {
        /// No action is required.
        case none
        /// The loop must drain the queue.
        case drain
        /// The message was rejected.
        case full
        /// The message was enqueued in place of the oldest one, which is dropped.
        case dropped(Entry, isDue: Bool)
    }

    init(limit: Int, whenFull: MailboxConfiguration.Overflow, isSerial: Bool) {
        self.limit = limit
        self.whenFull = whenFull
        self.isSerial = isSerial
    }

    /// The number of messages that wait or are in progress.
    ///
    /// A message may run immediately while it is 0.
    var occupancy: Int { self.entries.count + (self.inProgress == nil ? 0 : 1) }

    /// Whether all slots are taken.
    ///
    /// A serial mailbox has one additional slot, for the message in progress or the next message.
    var isFull: Bool {
        self.isSerial
            ? self.slots + (self.inProgress == nil ? 0 : 1) > self.limit : self.slots >= self.limit
    }

    /// Enqueues a message that no caller awaits, unless all slots are taken.
    ///
    /// In that case the envelope stays in the parameter.
    mutating func send(_ envelope: inout Envelope?) -> Effect {
        guard let effect = self.makeRoom() else { return .full }
        guard let taken = envelope.take() else { return effect }
        self.slots += 1
        self.entries.append(.sent(taken))
        return self.drain(after: effect)
    }

    /// Enqueues a message that no caller awaits and whose sender has already taken a slot.
    mutating func send(inSlot envelope: consuming Envelope) -> Effect {
        self.entries.append(.sent(envelope))
        return self.drain(after: .none)
    }

    /// Enqueues the task of an awaited message.
    mutating func append(_ task: QueuedTask) -> Effect {
        let awaited = AwaitedMessage(task)
        guard let effect = awaited.takesSlot ? self.makeRoom() : Effect.none else { return .full }
        if awaited.takesSlot { self.slots += 1 }
        if awaited.hasExchange { self.exchanges += 1 }
        task.hasEntered.store(true, ordering: .relaxed)
        self.entries.append(.awaited(awaited))
        return self.drain(after: effect)
    }

    /// Starts an awaited message if no other message waits or is in progress.
    mutating func start(_ id: CorrelationID) -> Bool {
        guard self.occupancy == 0 else { return false }
        if self.isSerial { self.inProgress = id }
        return true
    }

    /// Returns the next message to start, or nil when the loop need not drain again before the next
    /// ``Effect/drain``.
    mutating func startNext() -> Entry? {
        guard self.inProgress == nil, let entry = self.entries.popFirst() else {
            self.isDraining = false
            return nil
        }
        self.uncount(entry)
        if self.isSerial { self.inProgress = entry.id }
        return entry
    }

    /// Ends the message in progress of a serial mailbox.
    mutating func end() -> Effect {
        self.inProgress = nil
        return self.drain(after: .none)
    }

    /// Removes a task that no longer waits.
    ///
    /// Returns false when the task is no longer in the queue.
    ///
    /// The search proceeds from both ends. When many tasks are removed, they are removed in the order of
    /// arrival or in the reverse order.
    mutating func remove(_ task: QueuedTask) -> Bool {
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
        self.uncount(self.entries.remove(at: index))
        return true
    }

    /// Removes the messages whose handlers are no longer registered.
    mutating func removeUnreachable() -> UniqueDeque<Entry> {
        var removed = UniqueDeque<Entry>()
        for _ in 0..<self.entries.count {
            guard let entry = self.entries.popFirst() else { break }
            if entry.handler?.isGone == true {
                self.uncount(entry)
                removed.append(entry)
            } else {
                self.entries.append(entry)
            }
        }
        return removed
    }

    /// Makes room for one more message.
    ///
    /// - Returns: The required action, or nil when the mailbox stays full.
    private mutating func makeRoom() -> Effect? { self.isFull ? self.displace() : Effect.none }

    @inline(never)
    private mutating func displace() -> Effect? {
        guard self.whenFull == .dropOldest else { return nil }
        // Prefer a message whose exchange has already ended, so that no live message is dropped.
        if self.exchanges > 0, let index = self.firstOverInSlot { return self.drop(at: index) }
        for index in self.entries.indices where self.entries[index].takesSlot {
            return self.drop(at: index)
        }
        return nil
    }

    /// The oldest entry that has a slot although its exchange has ended.
    private var firstOverInSlot: Int? {
        for index in self.entries.indices where self.entries[index].takesSlot {
            if self.entries[index].task?.exchange?.isOver == true { return index }
        }
        return nil
    }

    private mutating func drop(at index: Int) -> Effect {
        let entry = self.entries.remove(at: index)
        self.uncount(entry)
        return .dropped(entry, isDue: false)
    }

    /// Removes an entry from the counts.
    private mutating func uncount(_ entry: borrowing Entry) {
        if entry.takesSlot { self.slots -= 1 }
        if entry.hasExchange { self.exchanges -= 1 }
    }

    /// Returns an effect that also drains the queue, unless the queue is empty or a drain is already
    /// scheduled.
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
    /// Takes a slot for a sender.
    ///
    /// Returns false while others wait for one, because a fast sender could otherwise take every slot that
    /// becomes free.
    mutating func takeSlot() -> Bool {
        guard self.senders.isEmpty, !self.isFull else { return false }
        self.slots += 1
        return true
    }

    /// Adds a sender that waits for a slot.
    ///
    /// - Returns: false if the sender has been given a slot immediately.
    mutating func addSender(_ sender: LoopContinuation<Bool>) -> Bool {
        if self.takeSlot() { return false }
        self.senders.append(sender)
        return true
    }

    /// Gives a free slot to the sender that has waited longest.
    ///
    /// Returns nil when the mailbox is full or no sender waits.
    mutating func grantSlot() -> LoopContinuation<Bool>? {
        guard !self.isFull, let sender = self.senders.popFirst() else { return nil }
        self.slots += 1
        return sender
    }

    /// Removes a sender that no longer waits.
    ///
    /// Returns false when the sender is no longer in the queue.
    mutating func removeSender(_ sender: LoopContinuation<Bool>) -> Bool {
        guard let index = self.senders.firstIndex(where: { $0 === sender }) else { return false }
        self.senders.remove(at: index)
        return true
    }

    /// Removes all senders, which must then check whether their handlers are still registered.
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

    /// Whether the entry counts against the limit.
    var takesSlot: Bool {
        switch self {
        case .sent: true
        case .awaited(let awaited): awaited.takesSlot
        }
    }

    /// Whether the entry has an exchange, which may end before its turn comes.
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
