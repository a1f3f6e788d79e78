internal import DequeModule
internal import Logging
internal import WaybillEventLoop
internal import WaybillRouting

/// The published messages that a sequence has not read yet.
///
/// A message in the buffer is in flight until it is read. ``SubscriptionBufferState`` decides about each
/// message, and this class performs the decision outside of the lock. A buffer does not belong to an event
/// loop: publishers add their messages on their own threads.
final class SubscriptionBuffer: Sendable {
    typealias Reader = LoopContinuation<UnreadMessage?>

    let core: BusCore
    /// The pattern for metrics, spans and dead letters, which is not a peer's: a peer may invent patterns.
    let pattern: String
    /// A closure that returns whether the buffer accepts messages to a URL; nil when the buffer accepts all
    /// messages.
    let accepts: (@Sendable (String) -> Bool)?
    let countsMemory: Bool
    private let state: Locked<SubscriptionBufferState>

    init(
        of pattern: String,
        limit: Int,
        whenFull: MailboxConfiguration.Overflow,
        core: BusCore,
        memory: SubscriptionMemory? = nil,
        accepts: (@Sendable (_ url: String) -> Bool)? = nil
    ) {
        self.core = core
        self.pattern = pattern
        self.accepts = accepts
        self.countsMemory = memory != nil
        self.state = Locked(SubscriptionBufferState(limit: limit, whenFull: whenFull, memory: memory))
    }

    var isForPeer: Bool { self.accepts != nil }

    func offer(_ message: UnreadMessage) -> SubscriptionBufferState.Offer {
        let offer = self.state.withLock { $0.offer(message, to: self) }
        if case .read(let reader) = offer { reader.resume(returning: message) }
        return offer
    }

    func take() -> SubscriptionBufferState.Reading { self.placed(self.state.withLock { $0.takeFirst() }) }

    /// Resumes a reader with the next message when a message is available, or with nil when the buffer has
    /// ended.
    func read(_ reader: Reader) {
        switch self.placed(self.state.withLock({ $0.read(reader) })) {
        case .message(let message, _): reader.resume(returning: message)
        case .end: reader.resume(returning: nil)
        case .none: break
        }
    }

    /// Resumes the publisher whose message has got the place of the message that was read.
    private func placed(_ reading: SubscriptionBufferState.Reading) -> SubscriptionBufferState.Reading {
        if case .message(_, let queued) = reading { queued?.publisher.resume(returning: nil) }
        return reading
    }

    func takeMissed() -> Int { self.state.withLock { $0.takeMissed() } }

    func withdraw(_ queued: QueuedMessage) -> Bool { self.state.withLock { $0.withdraw(queued) } }

    /// Settles a message that will not be read.
    func fail(_ unread: UnreadMessage, _ error: RoutingError, for recipient: Recipient) {
        let error = error.at(route: self.pattern, module: nil)
        self.core.settle(unread, as: .failed(error), for: recipient)
    }

    /// Ends the buffer, so that unread messages become dead letters and later messages are rejected.
    func end(with reason: @escaping @Sendable (String) -> RoutingError) {
        let left = self.state.withLock { $0.end(with: reason) }
        for unread in left.messages {
            self.fail(unread, reason(unread.message.parameters.url), for: .subscriber(isLogged: false))
        }
        if let url = left.messages.first?.message.parameters.url {
            // Log a single warning, because code often ends a loop on purpose while messages are unread.
            let count = left.messages.count
            self.core.logger.warning(
                "dead letters, unread",
                metadata: ["url": "\(url.onShortLine)", "count": "\(count)", "error": "\(reason(url))"]
            )
        }
        for queued in left.publishers {
            queued.publisher.resume(returning: reason(queued.unread.message.parameters.url))
        }
        for reader in left.readers { reader.resume(returning: nil) }
    }
}

extension BusCore {
    /// Adds a message to a buffer, or to the queue of messages whose publishers wait.
    func offer(
        _ message: inout Message,
        to buffer: SubscriptionBuffer,
        _ publication: inout Publication,
        on shard: BorrowedShard?
    ) {
        guard buffer.accepts?(message.parameters.url) ?? true else { return }
        let ticket = self.openTicket(on: shard)
        message.id = ticket.id
        var offered = message
        if let chain = publication.chain { offered.prepare(for: chain) }
        let size = buffer.countsMemory ? offered.size : 0
        let unread = UnreadMessage(offered, ticket, chain: publication.chain, size: size)
        switch buffer.offer(unread) {
        case .kept, .read: publication.acceptedCount += 1
        case .replaced(let oldest, let isKept):
            if isKept { publication.acceptedCount += 1 }
            // A peer learns the number of its dropped messages when it reads the next message.
            for unread in oldest {
                let error = RoutingError.droppedUnread(url: unread.message.parameters.url)
                buffer.fail(unread, error, for: .subscriber(isLogged: !buffer.isForPeer))
            }
        case .queued(let queued): publication.queued.append(queued)
        case .refused(let error): buffer.fail(unread, error, for: .subscriber(isLogged: true))
        }
    }

    func settle(
        _ unread: UnreadMessage,
        as outcome: Outcome,
        for recipient: Recipient,
        at handler: Handler? = nil
    ) {
        guard let ticket = unread.takeTicket() else { return }
        let shard = self.currentShard
        self.settle(ticket, as: outcome, of: unread.message, for: recipient, at: handler, on: shard)
    }

    /// Waits until a message has a place in its buffer, or returns false when the deadline passes, the
    /// publisher is cancelled, or the buffer ends.
    nonisolated(nonsending) func wait(for queued: QueuedMessage) async -> Bool {
        let message = queued.unread.message
        let url = message.parameters.url
        var watch: DeadlineWatch?
        if message.expiry.exists {
            watch = DeadlineWatch(message.expiry, by: self.time, on: .current) {
                queued.giveUp(.deadlineExceeded(url: url))
            }
        }
        let failure = await queued.publisher.wait(isolation: #isolation) {
        } onCancel: {
            queued.giveUp(.cancelled(url: url))
        }
        watch?.cancel()
        guard let error = failure else { return true }
        queued.buffer.fail(queued.unread, error, for: .publisher)
        return false
    }
}

/// A message that has not been read, and the obligation to settle the message.
final class UnreadMessage: Sendable {
    let message: Message
    /// The middlewares to call when the message is read; nil when the bus has none.
    let chain: MiddlewareChain?
    /// The number of bytes that count in the memory of the subscription.
    let size: Int
    private let ticket: Locked<MessageTicket?>

    init(
        _ message: Message,
        _ ticket: consuming MessageTicket?,
        chain: MiddlewareChain? = nil,
        size: Int = 0
    ) {
        self.message = message
        self.chain = chain
        self.size = size
        self.ticket = Locked(ticket)
    }

    func takeTicket() -> MessageTicket? { self.ticket.withLock { $0.take() } }
}

extension Message {
    /// The approximate memory that the message uses, in bytes.
    ///
    /// Values of this process count little, because publishers and subscribers share them.
    fileprivate var size: Int {
        let values = self.parameters.passedValues.reduce(EncodedValues.size(of: self.rawPayload)) {
            $0 + $1.key.utf8.count + EncodedValues.size(of: $1.value)
        }
        let headers = self.headers.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count + 128 }
        return 512 + self.parameters.url.utf8.count + values + headers
    }
}

/// A message whose publisher waits for room in a full buffer.
final class QueuedMessage: Sendable {
    let unread: UnreadMessage
    let buffer: SubscriptionBuffer
    /// The continuation of the publisher.
    ///
    /// The code that removes the message from the queue resumes the publisher: with nil if the message is in
    /// the buffer now, and with the reason otherwise.
    let publisher = LoopContinuation<RoutingError?>(on: .current)

    init(_ unread: UnreadMessage, in buffer: SubscriptionBuffer) {
        self.unread = unread
        self.buffer = buffer
    }

    /// Resumes the publisher with an error if the message is still in the queue.
    func giveUp(_ error: RoutingError) {
        if self.buffer.withdraw(self) { self.publisher.resume(returning: error) }
    }
}
