internal import DequeModule
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// A message that no caller awaits, with its target and the obligation to settle the message.
///
/// The envelope is moved from the sender through the mailbox to the loop, so that its references are not
/// counted again at each step.
struct Envelope: ~Copyable, Sendable {
    let message: Message
    let ticket: MessageTicket
    /// The handler that will receive the message, or the reason why only the bus's middlewares receive it.
    let target: Target
    let core: BusCore
    /// The middlewares to call when it is the message's turn; nil when the bus has none.
    ///
    /// The chain is not stored in the message. Otherwise a middleware that keeps messages would keep the
    /// chain, and the chain keeps the middleware.
    var chain: MiddlewareChain?

    /// Settles a message that does not reach its handler, and returns the error with the route of the
    /// handler.
    @inline(never)
    @discardableResult
    consuming func reject(
        for recipient: Recipient = .nobody,
        _ reason: (String) -> RoutingError
    ) -> RoutingError {
        let (core, message, handler) = (self.core, self.message, self.target.handler)
        let error = reason(message.parameters.url).at(handler)
        core.fail(self.ticket, of: message, with: error, at: handler, for: recipient, on: core.currentShard)
        return error
    }
}

/// The waiting messages of a mailbox, oldest first.
///
/// The queue decides, and ``Mailbox`` performs the decision outside of the lock. The mailbox's limit is a
/// number of slots. Each waiting message takes a slot, and so does the message that a serial mailbox is
/// handling. There are exceptions: an awaited message whose `takesSlot` is false takes no slot
/// (``Mailbox/takesSlot``), for example when the mailbox suspends senders and the caller of the message is
/// suspended anyway.
struct MailboxQueue: ~Copyable, Sendable {
    enum Entry: ~Copyable, Sendable {
        case sent(Envelope)
        /// A message that a caller awaits, with the task's `takesSlot`.
        ///
        /// Another core has often just written the task's memory, and reading it would stall the loop
        /// while it holds the lock.
        case awaited(QueuedTask, takesSlot: Bool)
    }

    let limit: Int
    let whenFull: MailboxConfiguration.Overflow
    let isSerial: Bool

    private var entries = UniqueDeque<Entry>()
    /// The number of entries that have a slot.
    private var slots = 0
    /// The message that a serial mailbox is handling.
    private(set) var inProgress: CorrelationID?
    /// Whether the loop drains the queue now or is scheduled to drain it.
    private var isDraining = false
    /// The tasks that wait for a slot in a mailbox that suspends senders, in the order of arrival, with the
    /// handlers of their messages.
    private var senders: Deque<(task: LoopContinuation<Bool>, handler: Handler)> = []

    /// The action that the mailbox must perform after a change of the queue.
    enum Effect: ~Copyable {
        case none
        /// The loop must drain the queue.
        case drain
        /// The message was not enqueued.
        case rejected
        /// The message was enqueued, and the oldest message was removed to make room.
        ///
        /// The mailbox must fail the removed message, and must drain the queue if `isDue` is true. The
        /// message is in a deque, because each effect would otherwise be as large as a message.
        case dropped(UniqueDeque<Entry>, isDue: Bool)
    }

    init(limit: Int, whenFull: MailboxConfiguration.Overflow, isSerial: Bool) {
        self.limit = limit
        self.whenFull = whenFull
        self.isSerial = isSerial
    }

    /// The number of messages that wait or are in progress; 0 when a message can be handled immediately.
    var occupancy: Int { self.entries.count + (self.inProgress == nil ? 0 : 1) }

    /// Whether all slots are taken.
    ///
    /// A serial mailbox has one additional slot, for the message in progress or the next message.
    var isFull: Bool {
        self.isSerial
            ? self.slots + (self.inProgress == nil ? 0 : 1) > self.limit : self.slots >= self.limit
    }

    /// Enqueues a message that no caller awaits, or leaves it in the parameter when all slots are taken.
    mutating func send(_ envelope: inout Envelope?, hasSlot: Bool = false) -> Effect {
        guard let effect = hasSlot ? Effect.none : self.makeRoom() else { return .rejected }
        guard let taken = envelope.take() else { return effect }
        if !hasSlot { self.slots += 1 }
        self.entries.append(.sent(taken))
        return self.addingDrain(to: effect)
    }

    mutating func append(_ task: QueuedTask) -> Effect {
        let takesSlot = task.takesSlot
        guard let effect = takesSlot ? self.makeRoom() : Effect.none else { return .rejected }
        if takesSlot { self.slots += 1 }
        task.hasEntered.store(true, ordering: .relaxed)
        self.entries.append(.awaited(task, takesSlot: takesSlot))
        return self.addingDrain(to: effect)
    }

    /// Begins the turn of an awaited message, and returns false when another message waits or is in progress.
    mutating func beginTurn(of id: CorrelationID) -> Bool {
        guard self.occupancy == 0 else { return false }
        if self.isSerial { self.inProgress = id }
        return true
    }

    /// Returns the next message to start, or nil when no message can start now.
    ///
    /// The next change that makes a message ready returns ``Effect/drain``.
    mutating func startNext() -> Entry? {
        guard self.inProgress == nil, let entry = self.entries.popFirst() else {
            self.isDraining = false
            return nil
        }
        self.uncount(entry)
        if self.isSerial { self.inProgress = entry.id }
        return entry
    }

    mutating func end() -> Effect {
        self.inProgress = nil
        return self.addingDrain(to: .none)
    }

    /// Removes a task that no longer waits, or returns false when the task is not in the queue.
    ///
    /// The search proceeds from both ends of the queue, because many tasks are usually removed in the order
    /// of arrival or in the reverse order.
    mutating func remove(_ task: QueuedTask) -> Bool {
        guard task.hasEntered.load(ordering: .relaxed), !task.isResumed else { return false }
        var (first, last) = (0, self.entries.count - 1)
        while first <= last {
            let found = self.entries[first].task === task ? first : last
            if self.entries[found].task === task {
                self.uncount(self.entries.remove(at: found))
                return true
            }
            (first, last) = (first + 1, last - 1)
        }
        return false
    }

    /// Removes and returns the messages whose handlers have been unregistered.
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

    /// Makes room for one more message, or returns nil when the mailbox stays full.
    private mutating func makeRoom() -> Effect? { self.isFull ? self.displace() : Effect.none }

    @inline(never)
    private mutating func displace() -> Effect? {
        guard self.whenFull == .dropOldest else { return nil }
        for index in self.entries.indices where self.entries[index].takesSlot {
            let entry = self.entries.remove(at: index)
            self.uncount(entry)
            var dropped = UniqueDeque<Entry>()
            dropped.append(entry)
            return .dropped(dropped, isDue: false)
        }
        return nil
    }

    private mutating func uncount(_ entry: borrowing Entry) {
        if entry.takesSlot { self.slots -= 1 }
    }

    /// Returns an effect that also drains the queue, or the effect unchanged when no message can start or a
    /// drain is already scheduled.
    private mutating func addingDrain(to effect: consuming Effect) -> Effect {
        if self.isDraining || self.inProgress != nil || self.entries.isEmpty { return effect }
        self.isDraining = true
        switch consume effect {
        case .dropped(let dropped, _): return .dropped(dropped, isDue: true)
        default: return .drain
        }
    }
}

// Tasks that wait for a slot.
extension MailboxQueue {
    /// Takes a slot, or returns false when no slot is free or other senders wait for a slot.
    ///
    /// Without the second condition, a fast sender could take every slot that becomes free.
    mutating func takeSlot() -> Bool {
        guard self.senders.isEmpty, !self.isFull else { return false }
        self.slots += 1
        return true
    }

    /// Adds a sender that waits for a slot, or returns false if the sender was given a slot immediately.
    mutating func addSender(_ sender: LoopContinuation<Bool>, to handler: Handler) -> Bool {
        if self.takeSlot() { return false }
        self.senders.append((sender, handler))
        return true
    }

    /// Gives a free slot to the sender that has waited longest, or returns nil when the mailbox is full or no
    /// sender waits.
    mutating func grantSlot() -> LoopContinuation<Bool>? {
        guard !self.isFull, let sender = self.senders.popFirst() else { return nil }
        self.slots += 1
        return sender.task
    }

    /// Removes a sender that no longer waits, or returns false when the sender does not wait for a slot.
    mutating func removeSender(_ sender: LoopContinuation<Bool>) -> Bool {
        guard let index = self.senders.firstIndex(where: { $0.task === sender }) else { return false }
        self.senders.remove(at: index)
        return true
    }

    /// Removes and returns the senders whose handlers have been unregistered.
    mutating func removeUnreachableSenders() -> [LoopContinuation<Bool>] {
        let removed = self.senders.filter { $0.handler.isGone }
        if !removed.isEmpty { self.senders.removeAll { $0.handler.isGone } }
        return removed.map(\.task)
    }
}

extension MailboxQueue.Entry {
    var id: CorrelationID {
        switch self {
        case .sent(let envelope): envelope.message.id
        case .awaited(let task, _): task.message.id
        }
    }

    var handler: Handler? {
        switch self {
        case .sent(let envelope): envelope.target.handler
        case .awaited(let task, _): task.handler
        }
    }

    var task: QueuedTask? {
        switch self {
        case .sent: nil
        case .awaited(let task, _): task
        }
    }

    /// Whether the entry counts against the limit.
    var takesSlot: Bool {
        switch self {
        case .sent: true
        case .awaited(_, let takesSlot): takesSlot
        }
    }

    /// Settles the message with a failure, without a call of its handler.
    consuming func fail(_ reason: (String) -> RoutingError) {
        switch consume self {
        case .sent(let envelope): envelope.reject(reason)
        case .awaited(let task, _): task.reject(reason(task.url))
        }
    }
}
