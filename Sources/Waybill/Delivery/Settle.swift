internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The obligation to give one message its outcome, exactly once.
///
/// ``BusCore/openTicket(on:)`` creates a ticket and counts the message as sent. Only
/// ``BusCore/settle(_:as:of:for:at:isCountedInFlight:on:)`` can consume the ticket. If code drops a ticket,
/// the message has no outcome, and a debug build traps.
struct MessageTicket: ~Copyable, Sendable {
    let id: CorrelationID

    fileprivate init(id: CorrelationID) { self.id = id }

    fileprivate consuming func tearOff() { discard self }

    deinit { assertionFailure("message \(self.id) was dropped without an outcome") }
}

/// The code that receives the outcome of a message.
enum Recipient: Sendable {
    /// The code of this process that awaits the delivery, which is the session of the peer for a peer's call.
    case caller
    /// A peer whose request was rejected or sent. `awaits` states whether the peer receives the outcome.
    case peer(awaits: Bool)
    /// A publisher, which waits until its subscribers have finished. A failure is logged.
    case publisher
    /// No recipient, because no caller waits for a sent message. A failure makes the message a dead letter.
    case nobody
    /// No recipient, because the message was published to a subscriber that did not accept the message.
    /// `isLogged` is false when a single log entry covers all messages of the subscription.
    case subscriber(isLogged: Bool)

    /// Whether code waits for the outcome.
    var isAwaited: Bool {
        switch self {
        case .caller, .peer(awaits: true), .publisher: true
        case .nobody, .peer(awaits: false), .subscriber: false
        }
    }

    /// Whether the message was published.
    ///
    /// The bus sends the value of no subscriber to a return URL.
    var isPublication: Bool {
        switch self {
        case .publisher, .subscriber: true
        case .caller, .peer, .nobody: false
        }
    }

    /// Whether the handler for unmatched URLs (`setUncaughtHandler`) receives the message when no pattern
    /// matches.
    fileprivate var tellsUncaught: Bool {
        switch self {
        case .caller, .nobody: true
        case .peer, .publisher, .subscriber: false
        }
    }

    fileprivate var isLogged: Bool {
        switch self {
        case .nobody, .publisher, .peer(awaits: false), .subscriber(isLogged: true): true
        case .caller, .peer(awaits: true), .subscriber(isLogged: false): false
        }
    }
}

/// The content of a message that has its outcome: the message, or the request if it did not become a message.
protocol SettledContent {
    var url: String { get }
    var extras: MessageExtras? { get }
    /// Whether the bus has possibly to send the value of the reply to a return URL.
    var hasReturnURL: Bool { get }

    /// Returns the message for observers, or nil when the URL is invalid.
    func message(_ id: CorrelationID, in core: BusCore) -> Message?
}

extension Message: SettledContent {
    var url: String { self.parameters.url }

    func message(_ id: CorrelationID, in core: BusCore) -> Message? { self }
}

extension Request: SettledContent {
    var hasReturnURL: Bool { false }

    func message(_ id: CorrelationID, in core: BusCore) -> Message? { core.unmatched(self, id: id) }
}

extension BusCore {
    /// Counts a message as sent and assigns its ID.
    @inline(__always)
    func openTicket(on shard: BorrowedShard?) -> MessageTicket {
        guard let shard else {
            self.statistics.shared.sent.incrementShared()
            return MessageTicket(id: self.statistics.nextID())
        }
        return MessageTicket(id: shard.nextMessage())
    }

    /// Settles a message: sends the reply's value to the return URL, reports a dead letter, and counts the
    /// outcome.
    ///
    /// A failure must already contain its route, which ``RoutingError/at(_:)-(Handler?)`` adds.
    /// `isCountedInFlight` states whether the route counts the message as in flight. A message that is
    /// handled in place is not counted before its end.
    @inline(__always)
    func settle<Content: SettledContent>(
        _ ticket: consuming MessageTicket,
        as outcome: Outcome,
        of content: Content,
        for recipient: Recipient,
        at handler: Handler?,
        isCountedInFlight: Bool = false,
        on shard: BorrowedShard?
    ) {
        var kind = Outcome.Kind.replied
        if let error = outcome.failure {
            self.report(error, of: content, ticket.id, for: recipient, at: handler)
            kind = recipient.isAwaited ? Outcome.Kind(error.code) : .deadLettered
        } else if content.hasReturnURL, !recipient.isPublication {
            self.sendReturnLeg(of: content, id: ticket.id, outcome)
        }
        let isOnLoop = handler?.loop == shard?.loop
        handler?.counters.end(kind, isCountedInFlight: isCountedInFlight, isOnLoop: isOnLoop)
        self.count(kind, on: shard)
        if !recipient.isAwaited, !recipient.isPublication {
            content.extras?.endUnawaited(with: outcome.failure.map { .failed($0) } ?? .delivered)
        }
        ticket.tearOff()
        // A bus that is draining waits until its last message has an outcome.
        if self.phase.load(ordering: .sequentiallyConsistent) != .open { self.noteEnd() }
    }

    /// Settles a message that fails before a handler begins.
    @discardableResult
    @inline(never)
    func fail(
        _ ticket: consuming MessageTicket,
        of content: some SettledContent,
        with error: RoutingError,
        at handler: Handler? = nil,
        for recipient: Recipient = .caller,
        on shard: BorrowedShard?
    ) -> DeliveryResult {
        let id = ticket.id
        self.settle(ticket, as: .failed(error), of: content, for: recipient, at: handler, on: shard)
        return DeliveryResult(id: id, outcome: .failed(error))
    }

    /// Counts an undeliverable message as sent, and settles the message with a failure.
    @discardableResult
    func fail(
        _ content: some SettledContent,
        _ error: RoutingError,
        for recipient: Recipient
    ) -> DeliveryResult {
        let shard = self.currentShard
        return self.fail(self.openTicket(on: shard), of: content, with: error, for: recipient, on: shard)
    }

    /// Reports a failure to observers, the handler for unmatched URLs and the log, before the outcome is
    /// counted.
    @inline(never)
    private func report<Content: SettledContent>(
        _ error: RoutingError,
        of content: Content,
        _ id: CorrelationID,
        for recipient: Recipient,
        at handler: Handler?
    ) {
        let isUndelivered = !recipient.isAwaited || Outcome.Kind(error.code) == .deadLettered
        if self.deadLetters.isWatched, isUndelivered {
            self.deadLetters.show(
                DeadLetter(
                    id: id,
                    url: content.url,
                    message: content.message(id, in: self),
                    error: error,
                    pattern: handler?.pattern ?? error.route,
                    isAwaited: recipient.isAwaited,
                    isPublication: recipient.isPublication || handler?.isSubscriber == true,
                    time: self.time.instant
                )
            )
        }
        // A handler can throw `noRoute` itself. Only a message without a handler has no route.
        if recipient.tellsUncaught, handler == nil, error.code == .noRoute,
            let message = content.message(id, in: self), self.tellUncaught(message)
        {
            return
        }
        if recipient.isLogged { self.log(content.url, error) }
    }

    @inline(never)
    private func sendReturnLeg(of content: some SettledContent, id: CorrelationID, _ outcome: Outcome) {
        guard case .success(let value) = outcome.result, let message = content.message(id, in: self),
            let path = message.extras?.returnPath, !path.isHeld
        else { return }
        path.send(value, headers: message.returnHeaders)
    }

    private func count(_ kind: Outcome.Kind, on shard: BorrowedShard?) {
        if let shard { return shard.count(kind) }
        self.statistics.shared.ended.count(kind) { $0.incrementShared() }
    }
}
