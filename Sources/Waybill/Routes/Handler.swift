internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The code of one registration, and where it runs.
@usableFromInline
final class Handler: Sendable {
    let code: HandlerCode
    /// The code, if it cannot suspend.
    @usableFromInline let immediate: (any ImmediateCode)?

    /// Whether the code is a connector's, whose errors about its messages reach the callers as they are.
    let isConnector: Bool

    /// The loop that the code runs on.
    let loop: ObjectIdentifier

    let mailbox: Mailbox
    let core: BusCore

    /// The shard of that loop; nil when the loop is not one of the bus's.
    let shard: BorrowedShard?

    /// Whether the handler is unregistered, or its loop has stopped; deliveries read this without the lock.
    private let isRetired = Atomic<Bool>(false)
    private let state = Locked(State())

    /// The statistics of the handler's route.
    let counters = RouteCounters()

    private struct State {
        /// The exchanges that wait for the handler.
        var waiting: [CorrelationID: Exchange] = [:]
        /// What the handler was registered for.
        var description: Description?
        /// Why the handler is unregistered, if it is.
        var reason: (@Sendable (String) -> RoutingError)?
    }

    /// Creates a handler for code of its own.
    init(_ code: HandlerCode, isConnector: Bool = false, mailbox: Mailbox, core: BusCore) {
        self.code = code
        self.immediate = code.immediate
        self.isConnector = isConnector
        self.loop = ObjectIdentifier(mailbox.eventLoop)
        self.mailbox = mailbox
        self.core = core
        self.shard = core.shard(of: self.loop)
    }

    /// Creates a handler that cannot suspend.
    convenience init<Value: Sendable>(
        immediate: @escaping @Sendable (Message) throws -> Value,
        mailbox: Mailbox,
        core: BusCore
    ) {
        self.init(.immediate(ImmediateBody(immediate)), mailbox: mailbox, core: core)
    }

    /// Creates a handler that may suspend.
    convenience init<Value: Sendable>(
        suspending: @escaping @Sendable (Message) async throws -> Value,
        mailbox: Mailbox,
        core: BusCore
    ) {
        self.init(
            boxed: { try await suspending($0) },
            replying: Value.self,
            mailbox: mailbox,
            core: core
        )
    }

    /// Creates a handler of an actor.
    convenience init(_ code: HandlerCode, of module: some LoopBound, core: BusCore) {
        self.init(code, mailbox: core.mailbox(of: module), core: core)
    }

    /// Creates a handler that may suspend, and whose values may be of any type.
    convenience init(
        boxed suspending: @escaping @Sendable (Message) async throws -> any Sendable,
        replying replyType: (any Any.Type)? = nil,
        isConnector: Bool = false,
        mailbox: Mailbox,
        core: BusCore
    ) {
        self.init(
            .suspending(SuspendingClosure(suspending, replying: replyType, in: mailbox)),
            isConnector: isConnector,
            mailbox: mailbox,
            core: core
        )
    }

    /// Creates a handler that runs another handler's code, where that runs it, for another route.
    convenience init(sharing other: Handler) {
        self.init(other.code, isConnector: other.isConnector, mailbox: other.mailbox, core: other.core)
        self.core.rejoin(self.mailbox)
    }

    deinit { self.core.leave(self.mailbox) }

    /// Whether the code cannot suspend.
    @inline(__always)
    var isImmediate: Bool { self.immediate != nil }

    /// Sets what the handler is registered for.
    func describe(as description: Description) { self.state.withLock { $0.description = description } }

    /// What the handler was registered for, also after that has ended.
    var description: Description? { self.state.withLock { $0.description } }

    /// Adds an exchange that ends when the handler is unregistered.
    ///
    /// - Returns: false when the handler is unregistered already.
    func attach(_ exchange: Exchange) -> Bool {
        self.state.withLock { state in
            guard state.reason == nil else { return false }
            state.waiting[exchange.id] = exchange
            return true
        }
    }

    func detach(_ exchange: Exchange) {
        // The caller has a reference to the exchange, so that this is not the last one.
        _ = self.state.withLock { $0.waiting.removeValue(forKey: exchange.id) }
    }

    /// Fails all waiting exchanges but the exempt ones, and all later messages.
    func retire(
        with reason: @escaping @Sendable (String) -> RoutingError,
        exempting exempt: [Exchange] = []
    ) {
        let waiting = self.state.withLock { state in
            if state.reason == nil { state.reason = reason }
            let ending = state.waiting.values.filter { one in !exempt.contains { $0 === one } }
            for exchange in ending { state.waiting[exchange.id] = nil }
            return ending
        }
        self.isRetired.store(true, ordering: .releasing)
        // First, all at once: each exchange would look for its message in the queue.
        self.mailbox.removeUnreachable()
        for exchange in waiting.sorted(by: { $0.id.rawValue > $1.id.rawValue }) {
            exchange.finish(.failed(reason(exchange.url)))
        }
    }

    /// Whether the handler has been unregistered, or its loop has stopped.
    @inline(__always)
    var isGone: Bool { self.isRetired.load(ordering: .acquiring) }

    /// Whether a message would get to the handler.
    var canBeReached: Bool { !self.isUnbound && !self.mailbox.eventLoop.isShutDown && !self.isGone }

    /// Returns the reason not to call the handler for a message any more, or nil to call it.
    func rejection(of message: borrowing Message) -> RoutingError? {
        if self.isGone { return self.reason(message.parameters.url) }
        return message.hasDeadline && message.expiry.hasPassed(by: self.core.time)
            ? .deadlineExceeded(url: message.parameters.url) : nil
    }

    /// Returns the reason that the handler is unregistered.
    @inline(never)
    func reason(_ url: String) -> RoutingError {
        self.state.withLock { $0.reason }?(url) ?? .unregistered(url: url)
    }
}

extension Handler {
    /// What a handler is registered for: a pattern, and for a module's route what else is known of it.
    enum Description {
        case pattern(String)
        /// What is published to URLs of a pattern.
        case subscription(String)
        indirect case route(RouteDescription)
        /// A route of a configuration whose target is not registered.
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

    /// The pattern that the handler was registered for, also after that has ended.
    var pattern: String? { self.description?.pattern }

    /// The description of the module's route that the handler belongs to, if it belongs to one.
    var routeDescription: RouteDescription? { self.description?.route }

    /// Whether the handler gets what is published, and not what is routed.
    var isSubscriber: Bool {
        if case .subscription = self.description { return true }
        return false
    }

    /// Whether the handler fails every message, since the target of a configuration is not registered.
    var isUnbound: Bool {
        if case .unbound = self.description { return true }
        return false
    }
}
