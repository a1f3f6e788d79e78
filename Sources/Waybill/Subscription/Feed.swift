internal import DequeModule
internal import WaybillEventLoop
internal import WaybillRouting

/// The messages between their publishers and one loop that reads them.
///
/// A message in it is in flight until it is read. What becomes of each is decided by ``FeedState``; this class does it,
/// outside the lock. A feed belongs to no event loop: whoever publishes puts the message in.
final class Feed: Sendable {
    typealias Reader = Pause<Message?>

    let core: BusCore
    private let pattern: String
    private let state: Locked<FeedState>

    init(of pattern: String, limit: Int, whenFull: MailboxConfiguration.Overflow, core: BusCore) {
        self.core = core
        self.pattern = pattern
        self.state = Locked(FeedState(limit: limit, whenFull: whenFull))
    }

    /// Takes a message, or says why not.
    func offer(_ message: Message) -> FeedState.Offer {
        let offer = self.state.withLock { $0.offer(message, to: self) }
        if case .read(let reader) = offer { reader.resume(returning: message) }
        return offer
    }

    /// The next message if there is one; `isOver` says whether there never will be.
    func take() -> (message: Message?, isOver: Bool) {
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

    /// Takes a message out of the line; false if it is not there any more.
    func withdraw(_ queued: QueuedMessage) -> Bool { self.state.withLock { $0.withdraw(queued) } }

    /// Ends a message that nobody reads.
    func deadLetter(_ message: Message, _ error: RoutingError) {
        self.core.deadLetter(message, error.at(route: self.pattern, module: nil))
    }

    /// Takes no more messages; what nobody has read is lost.
    func end(with reason: @escaping @Sendable (String) -> RoutingError) {
        let left = self.state.withLock { $0.end(with: reason) }
        for message in left.messages {
            let error = reason(message.parameters.url).at(route: self.pattern, module: nil)
            self.core.show(message.id, message.parameters.url, error, isAwaited: false, message)
            self.core.close(.deadLettered)
        }
        if let first = left.messages.first { self.core.logUnread(left.messages.count, from: first, reason) }
        for queued in left.line { queued.end(.failed(reason(queued.message.parameters.url))) }
        for reader in left.readers { reader.resume(returning: nil) }
    }
}
