internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The code of one registration, and the mailbox in which messages for the code wait.
@usableFromInline
final class Handler: Sendable {
    let code: HandlerCode
    /// The code, if it cannot suspend.
    @usableFromInline let synchronous: (any SynchronousCode)?

    /// Whether the code belongs to a connector, whose errors callers receive unchanged.
    let isConnector: Bool

    /// The loop that runs the code.
    let loop: ObjectIdentifier

    let mailbox: Mailbox
    let core: BusCore

    /// The state of the bus on `loop`; nil when this loop does not belong to the bus.
    let shard: BorrowedShard?

    /// Whether the handler is gone, as a flag that a delivery reads without the lock.
    private let isRetired = Atomic<Bool>(false)
    private let state = Locked(State())

    let counters = RouteCounters()

    private struct State {
        /// The exchanges whose callers wait for the handler.
        var waiting: [CorrelationID: Exchange] = [:]
        var description: Description?
        /// The reason why the handler receives no more messages; nil while the handler is registered.
        var reason: (@Sendable (String) -> RoutingError)?
    }

    init(_ code: HandlerCode, isConnector: Bool = false, mailbox: Mailbox, core: BusCore) {
        self.code = code
        self.synchronous = code.synchronous
        self.isConnector = isConnector
        self.loop = ObjectIdentifier(mailbox.eventLoop)
        self.mailbox = mailbox
        self.core = core
        self.shard = core.shard(of: self.loop)
    }

    convenience init<Value: Sendable>(
        synchronous: @escaping @Sendable (Message) throws -> Value,
        core: BusCore
    ) {
        self.init(.synchronous(SynchronousBody(synchronous)), mailbox: core.homeMailbox, core: core)
    }

    convenience init<Value: Sendable>(
        suspending: @escaping @Sendable (Message) async throws -> Value,
        core: BusCore
    ) {
        self.init(boxed: { try await suspending($0) }, replying: Value.self, core: core)
    }

    convenience init(_ code: HandlerCode, of module: some LoopBound, core: BusCore) {
        self.init(code, mailbox: core.mailbox(of: module), core: core)
    }

    convenience init(
        boxed suspending: @escaping @Sendable (Message) async throws -> any Sendable,
        replying replyType: (any Any.Type)? = nil,
        isConnector: Bool = false,
        core: BusCore
    ) {
        let mailbox = core.homeMailbox
        self.init(
            .suspending(SuspendingClosure(suspending, replying: replyType, in: mailbox)),
            isConnector: isConnector,
            mailbox: mailbox,
            core: core
        )
    }

    /// Creates a handler that runs the code of another handler, in the same mailbox, for another route.
    convenience init(sharing other: Handler) {
        self.init(other.code, isConnector: other.isConnector, mailbox: other.mailbox, core: other.core)
        self.core.mailboxes.withLock { $0.rejoin(self.mailbox) }
    }

    deinit {
        self.core.mailboxes.withLock { mailboxes in
            if !self.isGone { mailboxes.retire(from: self.mailbox) }
            mailboxes.leave(self.mailbox)
        }
    }

    var isSynchronous: Bool { self.synchronous != nil }

    func describe(as description: Description) { self.state.withLock { $0.description = description } }

    /// The description of the registration, which is kept after the handler is unregistered.
    var description: Description? { self.state.withLock { $0.description } }

    /// Adds an exchange that ends when the handler is unregistered, or returns false when it already is.
    func attach(_ exchange: Exchange) -> Bool {
        self.state.withLock { state in
            guard state.reason == nil else { return false }
            state.waiting[exchange.id] = exchange
            return true
        }
    }

    func detach(_ exchange: Exchange) {
        // The caller holds a reference to the exchange, so this call does not release the last reference
        // under the lock.
        _ = self.state.withLock { $0.waiting.removeValue(forKey: exchange.id) }
    }

    /// Fails all waiting exchanges except the exempt ones, and rejects all later messages.
    func retire(
        with reason: @escaping @Sendable (String) -> RoutingError,
        exempting exempt: [Exchange] = []
    ) {
        let (isFirst, waiting) = self.state.withLock { state in
            let isFirst = state.reason == nil
            if isFirst { state.reason = reason }
            let ending = state.waiting.values.filter { one in !exempt.contains { $0 === one } }
            for exchange in ending { state.waiting[exchange.id] = nil }
            return (isFirst, ending)
        }
        if isFirst { self.core.mailboxes.withLock { $0.retire(from: self.mailbox) } }
        self.isRetired.store(true, ordering: .releasing)
        // Remove the messages from the queue first, in a single pass. Otherwise each exchange below would
        // search the queue for its own message.
        self.mailbox.removeUnreachable()
        for exchange in waiting.sorted(by: { $0.id.rawValue > $1.id.rawValue }) {
            exchange.finish(.failed(reason(exchange.url)))
        }
    }

    /// Whether the handler has been unregistered, or its loop has stopped.
    @inline(__always)
    var isGone: Bool { self.isRetired.load(ordering: .acquiring) }

    /// Whether the bus can deliver a message to the handler.
    ///
    /// A handler fails every message when a configured route has a target that is not registered.
    var canBeReached: Bool {
        if case .unbound = self.description { return false }
        return !self.mailbox.eventLoop.isShutDown && !self.isGone
    }

    /// Returns the reason to reject a message for the handler, or nil to deliver it.
    func rejection(of message: borrowing Message) -> RoutingError? {
        if self.isGone { return self.retirementError(message.parameters.url) }
        return message.expiry.hasPassed(by: self.core.time)
            ? .deadlineExceeded(url: message.parameters.url) : nil
    }

    @inline(never)
    func retirementError(_ url: String) -> RoutingError {
        self.state.withLock { $0.reason }?(url) ?? .unregistered(url: url)
    }
}

extension Handler {
    /// The registration of a handler: a pattern, or a module's route with its full description.
    enum Description {
        case pattern(String)
        /// A subscription to the URLs of a pattern.
        case subscription(String)
        indirect case route(RouteDescription)
        /// A configured route whose target is not registered.
        indirect case unbound(RouteConfiguration.Entry)

        var pattern: String {
            switch self {
            case .pattern(let pattern), .subscription(let pattern): pattern
            case .route(let description): description.pattern
            case .unbound(let entry): entry.pattern
            }
        }

        var route: RouteDescription? { if case .route(let description) = self { description } else { nil } }
    }

    var pattern: String? { self.description?.pattern }

    /// Whether the handler receives publications instead of routed messages.
    var isSubscriber: Bool { if case .subscription = self.description { true } else { false } }
}
