internal import DequeModule
internal import Synchronization
internal import WaybillRouting

/// The memory that the unread messages of several subscriptions may use together, in bytes.
///
/// If a message would exceed the limit, its subscription drops its oldest messages.
package final class SubscriptionMemory: Sendable {
    private let limit: Int
    /// The memory of more subscriptions, which includes these subscriptions; nil if there is none.
    private let outer: SubscriptionMemory?
    private let used = Atomic<Int>(0)

    package init(limit: Int, inside outer: SubscriptionMemory? = nil) {
        self.limit = limit
        self.outer = outer
    }

    /// Counts the bytes of a message, or returns false when a limit is reached.
    ///
    /// A message that waits alone may be larger than the limit.
    fileprivate func take(_ bytes: Int) -> Bool {
        let used = self.used.add(bytes, ordering: .relaxed).newValue
        if used <= self.limit || used == bytes, self.outer?.take(bytes) ?? true { return true }
        self.used.subtract(bytes, ordering: .relaxed)
        return false
    }

    fileprivate func give(_ bytes: Int) {
        self.used.subtract(bytes, ordering: .relaxed)
        self.outer?.give(bytes)
    }
}

/// The state of a buffer: it decides about each message, and ``SubscriptionBuffer`` performs the decision.
struct SubscriptionBufferState {
    let limit: Int
    let whenFull: MailboxConfiguration.Overflow
    /// The memory in which the messages of the buffer count; nil when only their number is limited.
    private let memory: SubscriptionMemory?

    private var buffer: Deque<UnreadMessage> = []
    /// The number of messages that newer messages have replaced since the last message was taken.
    private var replaced = 0
    /// The number of messages before the last taken message that the reader has missed.
    private var missed = 0
    /// The messages whose publishers wait for room; empty unless the buffer is full.
    private var publishers: Deque<QueuedMessage> = []
    /// The readers that wait for a message; empty unless the buffer is empty.
    private var readers: Deque<SubscriptionBuffer.Reader> = []
    private var reason: (@Sendable (String) -> RoutingError)?

    init(limit: Int, whenFull: MailboxConfiguration.Overflow, memory: SubscriptionMemory? = nil) {
        self.limit = max(1, limit)
        self.whenFull = whenFull
        self.memory = memory
    }

    /// The decision about a message that is offered to the buffer.
    enum Offer {
        case kept
        case read(by: SubscriptionBuffer.Reader)
        /// The oldest messages were removed. They include the offered message if `isKept` is false.
        case replaced([UnreadMessage], isKept: Bool)
        /// The message is queued, and its publisher waits.
        case queued(QueuedMessage)
        case refused(RoutingError)
    }

    mutating func offer(_ unread: UnreadMessage, to buffer: SubscriptionBuffer) -> Offer {
        if let reason { return .refused(reason(unread.message.parameters.url)) }
        if let reader = self.readers.popFirst() { return .read(by: reader) }
        var oldest: [UnreadMessage] = []
        while self.buffer.count >= self.limit || self.memory?.take(unread.size) == false {
            switch self.whenFull {
            case .fail:
                return .refused(.subscriptionFull(url: unread.message.parameters.url, limit: self.limit))
            case .dropOldest:
                self.replaced += 1
                guard let message = self.removeFirst() else {
                    return .replaced(oldest + [unread], isKept: false)
                }
                oldest.append(message)
            case .suspend:
                let queued = QueuedMessage(unread, in: buffer)
                self.publishers.append(queued)
                return .queued(queued)
            }
        }
        self.buffer.append(unread)
        return oldest.isEmpty ? .kept : .replaced(oldest, isKept: true)
    }

    private mutating func removeFirst() -> UnreadMessage? {
        guard let message = self.buffer.popFirst() else { return nil }
        self.memory?.give(message.size)
        return message
    }

    enum Reading {
        /// The message that was read, and the message that took its place in the buffer; nil when no
        /// publisher waited.
        case message(UnreadMessage, QueuedMessage?)
        case end
        case none
    }

    mutating func takeFirst() -> Reading {
        guard let message = self.removeFirst() else { return self.reason == nil ? .none : .end }
        self.missed += self.replaced
        self.replaced = 0
        let queued = self.publishers.popFirst()
        if let queued { self.buffer.append(queued.unread) }
        return .message(message, queued)
    }

    /// Takes the number of messages before the last taken message that the reader has missed.
    mutating func takeMissed() -> Int {
        defer { self.missed = 0 }
        return self.missed
    }

    /// Reads a message, or adds the reader to the waiting readers when the buffer is empty and has not ended.
    mutating func read(_ reader: SubscriptionBuffer.Reader) -> Reading {
        let reading = self.takeFirst()
        if case .none = reading { self.readers.append(reader) }
        return reading
    }

    /// Removes a message whose publisher waits, or returns false when the message is not in the queue.
    mutating func withdraw(_ queued: QueuedMessage) -> Bool {
        guard let index = self.publishers.firstIndex(where: { $0 === queued }) else { return false }
        self.publishers.remove(at: index)
        return true
    }

    /// The messages, publishers and readers that are left when a buffer ends.
    struct Leftovers {
        var messages: Deque<UnreadMessage> = []
        var publishers: Deque<QueuedMessage> = []
        var readers: Deque<SubscriptionBuffer.Reader> = []
    }

    mutating func end(with reason: @escaping @Sendable (String) -> RoutingError) -> Leftovers {
        guard self.reason == nil else { return Leftovers() }
        self.reason = reason
        self.memory?.give(self.buffer.reduce(0) { $0 + $1.size })
        let leftovers = Leftovers(messages: self.buffer, publishers: self.publishers, readers: self.readers)
        (self.buffer, self.publishers, self.readers) = ([], [], [])
        return leftovers
    }
}
