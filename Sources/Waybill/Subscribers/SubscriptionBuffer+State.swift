internal import DequeModule
internal import WaybillRouting

/// Decides what happens to the messages of a buffer; ``SubscriptionBuffer`` acts.
struct SubscriptionBufferState {
    let limit: Int
    let whenFull: MailboxConfiguration.Overflow

    private var buffer: Deque<UnreadMessage> = []
    /// The messages whose publishers wait; there are some only while the buffer is full.
    private var publishers: Deque<QueuedMessage> = []
    /// The readers that wait for a message; there are some only while the buffer is empty.
    private var readers: Deque<SubscriptionBuffer.Reader> = []
    private var reason: (@Sendable (String) -> RoutingError)?

    init(limit: Int, whenFull: MailboxConfiguration.Overflow) {
        self.limit = max(1, limit)
        self.whenFull = whenFull
    }

    /// What happens to one more message.
    enum Offer {
        case kept
        case read(by: SubscriptionBuffer.Reader)
        /// It was kept, and the oldest was not.
        case replaced(UnreadMessage)
        /// It is queued; its publisher waits.
        case queued(QueuedMessage)
        case refused(RoutingError)
    }

    mutating func offer(_ unread: UnreadMessage, to buffer: SubscriptionBuffer) -> Offer {
        if let reason { return .refused(reason(unread.message.parameters.url)) }
        if let reader = self.readers.popFirst() { return .read(by: reader) }
        if self.buffer.count < self.limit {
            self.buffer.append(unread)
            return .kept
        }
        switch self.whenFull {
        case .fail: return .refused(.subscriptionFull(url: unread.message.parameters.url, limit: self.limit))
        case .dropOldest:
            let oldest = self.buffer.removeFirst()
            self.buffer.append(unread)
            return .replaced(oldest)
        case .suspend:
            let queued = QueuedMessage(unread, in: buffer)
            self.publishers.append(queued)
            return .queued(queued)
        }
    }

    /// What a reader gets.
    enum Reading {
        /// A message, and the one that took its place in the buffer.
        case message(UnreadMessage, QueuedMessage?)
        case end
        case none
    }

    mutating func read() -> Reading {
        guard let message = self.buffer.popFirst() else { return self.reason == nil ? .none : .end }
        let queued = self.publishers.popFirst()
        if let queued { self.buffer.append(queued.unread) }
        return .message(message, queued)
    }

    /// The same for a reader that waits if there is nothing.
    mutating func read(_ reader: SubscriptionBuffer.Reader) -> Reading {
        let reading = self.read()
        if case .none = reading { self.readers.append(reader) }
        return reading
    }

    /// Takes a message out of the queue; false if it is not in it any more.
    mutating func withdraw(_ queued: QueuedMessage) -> Bool {
        guard let index = self.publishers.firstIndex(where: { $0 === queued }) else { return false }
        self.publishers.remove(at: index)
        return true
    }

    /// What is left in a buffer that ends.
    struct Leftovers {
        var messages: Deque<UnreadMessage> = []
        var publishers: Deque<QueuedMessage> = []
        var readers: Deque<SubscriptionBuffer.Reader> = []
    }

    mutating func end(with reason: @escaping @Sendable (String) -> RoutingError) -> Leftovers {
        guard self.reason == nil else { return Leftovers() }
        self.reason = reason
        let leftovers = Leftovers(messages: self.buffer, publishers: self.publishers, readers: self.readers)
        (self.buffer, self.publishers, self.readers) = ([], [], [])
        return leftovers
    }
}
