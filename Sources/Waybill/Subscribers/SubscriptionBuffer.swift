internal import DequeModule
internal import Logging
internal import WaybillEventLoop
internal import WaybillRouting

/// The messages between their publishers and one loop that reads them.
///
/// A message in it is in flight until it is read. What happens to each is decided by
/// ``SubscriptionBufferState``; this class does it, outside the lock. A buffer belongs to no event loop: the
/// publisher puts the message in.
final class SubscriptionBuffer: Sendable {
    typealias Reader = LoopContinuation<UnreadMessage?>

    let core: BusCore
    private let pattern: String
    /// Whether the buffer is for messages to a URL; nil if it is for all.
    private let accepts: (@Sendable (String) -> Bool)?
    private let state: Locked<SubscriptionBufferState>

    init(
        of pattern: String,
        limit: Int,
        whenFull: MailboxConfiguration.Overflow,
        core: BusCore,
        accepts: (@Sendable (_ url: String) -> Bool)? = nil
    ) {
        self.core = core
        self.pattern = pattern
        self.accepts = accepts
        self.state = Locked(SubscriptionBufferState(limit: limit, whenFull: whenFull))
    }

    /// Whether the buffer is for messages to a URL that its pattern matches.
    func isFor(_ url: String) -> Bool { self.accepts?(url) ?? true }

    /// Takes a message, or says why not.
    func offer(_ message: UnreadMessage) -> SubscriptionBufferState.Offer {
        let offer = self.state.withLock { $0.offer(message, to: self) }
        if case .read(let reader) = offer { reader.resume(returning: message) }
        return offer
    }

    /// The next message if there is one; `isOver` says whether there never will be.
    func take() -> (message: UnreadMessage?, isOver: Bool) {
        switch self.state.withLock({ $0.read() }) {
        case .message(let message, let queued):
            queued?.end(.placed)
            return (message, false)
        case .end: return (nil, true)
        case .none: return (nil, false)
        }
    }

    /// Resumes a reader with the next message as soon as there is one, or with nil when there are no more.
    func read(_ reader: Reader) {
        switch self.state.withLock({ $0.read(reader) }) {
        case .message(let message, let queued):
            queued?.end(.placed)
            reader.resume(returning: message)
        case .end: reader.resume(returning: nil)
        case .none: break
        }
    }

    /// Takes a message out of the queue; false if it is not in it any more.
    func withdraw(_ queued: QueuedMessage) -> Bool { self.state.withLock { $0.withdraw(queued) } }

    /// Ends a message that is not read.
    func drop(_ unread: UnreadMessage, _ error: RoutingError, isLogged: Bool = true) {
        let error = error.at(route: self.pattern, module: nil)
        self.core.settle(unread, as: .failed(error), for: .subscriber(isLogged: isLogged))
    }

    /// Takes no more messages; those that have not been read are dead letters.
    func end(with reason: @escaping @Sendable (String) -> RoutingError) {
        let left = self.state.withLock { $0.end(with: reason) }
        for unread in left.messages {
            self.drop(unread, reason(unread.message.parameters.url), isLogged: false)
        }
        if let first = left.messages.first?.message {
            self.core.logUnread(left.messages.count, from: first, reason)
        }
        for queued in left.publishers { queued.end(.failed(reason(queued.unread.message.parameters.url))) }
        for reader in left.readers { reader.resume(returning: nil) }
    }
}

extension BusCore {
    /// Puts a message into a buffer, or its publisher into the queue.
    func offer(
        _ message: inout Message,
        to buffer: SubscriptionBuffer,
        _ publication: inout Publication,
        on shard: BorrowedShard?
    ) {
        guard buffer.isFor(message.parameters.url) else { return }
        let ticket = self.open(on: shard)
        message.id = ticket.id
        var offered = message
        if let chain = publication.chain { offered.prepare(for: chain) }
        let unread = UnreadMessage(offered, ticket, chain: publication.chain)
        switch buffer.offer(unread) {
        case .kept, .read: publication.taken += 1
        case .replaced(let oldest):
            publication.taken += 1
            buffer.drop(oldest, .droppedUnread(url: oldest.message.parameters.url))
        case .queued(let queued): publication.queued.append(queued)
        case .refused(let error): buffer.drop(unread, error)
        }
    }

    /// Ends a message that was in a buffer.
    func settle(
        _ unread: UnreadMessage,
        as outcome: Outcome,
        for recipient: Recipient,
        at handler: Handler? = nil
    ) {
        guard let ticket = unread.takeTicket() else { return }
        self.settle(
            ticket,
            as: outcome,
            of: unread.message,
            for: recipient,
            at: handler,
            on: self.currentShard
        )
    }

    /// Logs that messages were left unread, once for all of them: code that leaves a loop expects that.
    func logUnread(_ count: Int, from first: Message, _ reason: (String) -> RoutingError) {
        let url = first.parameters.url
        self.logger.warning(
            "dead letters, unread",
            metadata: ["url": "\(url.onShortLine)", "count": "\(count)", "error": "\(reason(url))"]
        )
    }

    /// Waits until a message is in its buffer.
    ///
    /// - Returns: false if its time is up, the publisher is cancelled or the buffer has ended.
    nonisolated(nonsending) func wait(for queued: QueuedMessage) async -> Bool {
        let message = queued.unread.message
        let url = message.parameters.url
        var watch: DeadlineWatch?
        if message.expiry.exists {
            watch = DeadlineWatch(message.expiry, by: self.time, on: self.currentShard?.eventLoop) {
                queued.giveUp(.deadlineExceeded(url: url))
            }
        }
        let publisher = QueuedMessage.Publisher(on: .current)
        let end = await publisher.wait(isolation: #isolation) {
            queued.wait(publisher)
        } onCancel: {
            queued.giveUp(.cancelled(url: url))
        }
        watch?.cancel()
        guard case .failed(let error) = end else { return true }
        self.settle(queued.unread, as: .failed(error), for: .publisher)
        return false
    }
}

/// A message that has not been read, and the obligation to end it.
final class UnreadMessage: Sendable {
    let message: Message
    /// The middlewares that the message meets when it is read, if there are any.
    let chain: MiddlewareChain?
    private let ticket: Locked<MessageTicket?>

    init(_ message: Message, _ ticket: consuming MessageTicket?, chain: MiddlewareChain? = nil) {
        self.message = message
        self.chain = chain
        self.ticket = Locked(ticket)
    }

    /// Takes the obligation to end the message.
    func takeTicket() -> MessageTicket? { self.ticket.withLock { $0.take() } }
}

/// A message whose publisher waits for room in a full buffer.
final class QueuedMessage: Sendable {
    /// How the wait ends.
    enum End: Sendable {
        /// The message is in the buffer.
        case placed
        case failed(RoutingError)
    }

    let unread: UnreadMessage
    let buffer: SubscriptionBuffer
    private let state = Locked(State())

    typealias Publisher = LoopContinuation<End>

    private struct State {
        var end: End?
        var publisher: Publisher?
    }

    init(_ unread: UnreadMessage, in buffer: SubscriptionBuffer) {
        self.unread = unread
        self.buffer = buffer
    }

    /// Ends the wait; called once, by the code that took the message out of the queue.
    func end(_ end: End) {
        let publisher = self.state.withLock { state in
            state.end = end
            return state.publisher.take()
        }
        publisher?.resume(returning: end)
    }

    /// Resumes the publisher when the wait ends.
    func wait(_ publisher: Publisher) {
        let end = self.state.withLock { state in
            if state.end == nil { state.publisher = publisher }
            return state.end
        }
        if let end { publisher.resume(returning: end) }
    }

    /// Ends the wait if the message is still queued.
    func giveUp(_ error: RoutingError) {
        if self.buffer.withdraw(self) { self.end(.failed(error)) }
    }
}
