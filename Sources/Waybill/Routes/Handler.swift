internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The code of one registration, and where it runs.
@usableFromInline
final class Handler: Sendable {
    /// What it runs.
    @usableFromInline let code: HandlerCode

    /// The handlers that this one stands for, if it is a route of several instances of a module.
    let instanceGroup: InstanceGroup?

    /// The error of each message, if this stands for the handler of messages that have none.
    let failure: RoutingError?

    /// Whether it is a connector, which passes on what others say of its messages.
    let isConnector: Bool

    /// The loop that it is called on.
    let loop: ObjectIdentifier

    let mailbox: Mailbox
    let core: BusCore

    /// What the bus keeps on that loop, if it is one of the bus's; the core holds it.
    let shard: Unretained<LoopShard>?

    /// Whether the handler is unregistered, or its loop has stopped; deliveries read this without the lock.
    private let isRetired = Atomic<Bool>(false)
    private let state = Locked(State())

    /// The statistics of its route.
    ///
    /// They come last, a cache line away from what is only read: callers of other loops count here.
    let counters = RouteCounters()

    private struct State: ~Copyable {
        /// The exchanges that wait for the handler.
        var waiting = WaitingExchanges()
        /// What it was registered for.
        var description: Description?
        /// Why the handler is unregistered, if it is.
        var reason: (@Sendable (String) -> RoutingError)?
    }

    /// Whether the calling thread runs the loop of the mailbox.
    @usableFromInline var isOnLoop: Bool { self.mailbox.eventLoop.isInEventLoop }

    /// A handler with code of its own.
    init(_ code: HandlerCode, isConnector: Bool = false, mailbox: Mailbox, core: BusCore) {
        self.code = code
        self.isConnector = isConnector
        self.failure = nil
        self.instanceGroup = nil
        self.loop = ObjectIdentifier(mailbox.eventLoop)
        self.mailbox = mailbox
        self.core = core
        self.shard = core.shard(of: self.loop).map(Unretained.init)
    }

    /// A handler that answers at once.
    convenience init<Value: Sendable>(
        immediate: @escaping @Sendable (Message) throws -> Value,
        mailbox: Mailbox,
        core: BusCore
    ) {
        self.init(HandlerCode(immediate: ImmediateBody(immediate)), mailbox: mailbox, core: core)
    }

    /// A handler that may suspend.
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

    /// A handler of an actor.
    convenience init(_ code: HandlerCode, of module: some LoopBound, core: BusCore) {
        self.init(code, mailbox: core.mailbox(of: module), core: core)
    }

    /// A handler that may suspend, and whose values may be anything.
    convenience init(
        boxed suspending: @escaping @Sendable (Message) async throws -> any Sendable,
        replying replyType: (any Any.Type)? = nil,
        isConnector: Bool = false,
        mailbox: Mailbox,
        core: BusCore
    ) {
        self.init(
            HandlerCode(suspending: SuspendingClosure(suspending, replying: replyType, in: mailbox)),
            isConnector: isConnector,
            mailbox: mailbox,
            core: core
        )
    }

    /// Runs another handler's code for a route of a configuration, which may add values to its messages.
    convenience init(sharing other: Handler, target: ConfiguredTarget?) {
        if let target {
            let members = other.members.map { Handler(sharing: $0) }
            self.init(
                InstanceGroup(members, other.instanceGroup?.choice ?? .single, target),
                core: other.core
            )
        } else {
            self.init(sharing: other)
        }
    }

    /// Runs another handler's code, where that runs it, for another route.
    init(sharing other: Handler) {
        self.code = other.code
        self.isConnector = other.isConnector
        self.failure = nil
        self.instanceGroup = other.instanceGroup?.sharing
        self.loop = self.instanceGroup.map { ObjectIdentifier($0) } ?? other.loop
        self.mailbox = other.mailbox
        self.core = other.core
        self.shard = other.shard
        self.core.rejoin(self.mailbox)
    }

    /// Stands for the handler of a message that has none, for the middlewares that it meets all the same.
    init(failure: RoutingError, core: BusCore) {
        self.code = .none
        self.isConnector = false
        self.failure = failure
        self.instanceGroup = nil
        self.loop = core.primaryShard.loop
        self.mailbox = core.homeMailbox
        self.core = core
        self.shard = nil
    }

    /// Stands for the same route in several instances of a module; it is on no loop, and never called itself.
    init(_ instanceGroup: InstanceGroup, core: BusCore) {
        self.code = .none
        self.isConnector = false
        self.failure = nil
        self.instanceGroup = instanceGroup
        self.loop = ObjectIdentifier(instanceGroup)
        self.mailbox = core.homeMailbox
        self.core = core
        self.shard = nil
    }

    /// Whether it can be called in place by a caller on its loop.
    @inline(__always)
    var isImmediate: Bool { self.code.isImmediate }

    /// Calls a handler that cannot suspend, and does not know the type of its answer.
    @usableFromInline
    func call(_ message: Message) throws -> any Sendable { try self.code.immediate.callBoxed(message) }

    deinit { self.core.leave(self.mailbox) }

    /// Notes what it is registered for.
    func describe(as description: Description) {
        for member in self.members { member.state.withLock { $0.description = description } }
        self.state.withLock { $0.description = description }
    }

    /// What it was registered for, also after that ended.
    var description: Description? { self.state.withLock { $0.description } }

    /// Notes that a caller waits, so that its exchange can be ended when the handler is unregistered.
    ///
    /// - Returns: false if the handler is unregistered already.
    func attach(_ exchange: Exchange) -> Bool {
        self.state.withLock { state in
            guard state.reason == nil else { return false }
            state.waiting.add(exchange)
            return true
        }
    }

    func detach(_ exchange: Exchange) {
        // The caller has a reference to the exchange, so that this is not the last one.
        self.state.withLock { $0.waiting.remove(exchange) }
    }

    /// Fails all waiting exchanges but the exempt ones, and all later messages.
    func retire(
        with reason: @escaping @Sendable (String) -> RoutingError,
        exempting exempt: [Exchange] = []
    ) {
        let waiting = self.state.withLock { state in
            if state.reason == nil { state.reason = reason }
            return state.waiting.removeAll { one in exempt.contains { $0 === one } }
        }
        self.isRetired.store(true, ordering: .releasing)
        // First, all at once: each exchange would look for its message in the queue.
        self.mailbox.removeUnreachable()
        for exchange in waiting { exchange.finish(.failed(reason(exchange.url))) }
        for member in self.instanceGroup?.members ?? [] { member.retire(with: reason, exempting: exempt) }
    }

    /// Whether the handler has been unregistered, or its loop has stopped.
    @inline(__always)
    var isGone: Bool { self.isRetired.load(ordering: .acquiring) }

    /// Whether a message would get to the handler.
    var canBeReached: Bool {
        !self.isUnbound && self.members.contains { !$0.mailbox.eventLoop.isShutDown && !$0.isGone }
    }

    /// Why a message may not be given to the handler any more, if so.
    func objection(to message: Message) -> RoutingError? {
        if self.isGone { return self.reason(message.parameters.url) }
        return message.expiry.hasPassed(by: self.core.time)
            ? .deadlineExceeded(url: message.parameters.url) : nil
    }

    /// Why the handler is unregistered.
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
    }

    /// The pattern that it was registered for, also after that ended.
    var pattern: String? {
        switch self.description {
        case .pattern(let pattern), .subscription(let pattern): pattern
        case .route(let description): description.pattern
        case .unbound(let entry): entry.pattern
        case nil: nil
        }
    }

    /// What is known of the module's route that it handles, if it is one.
    var routeDescription: RouteDescription? {
        if case .route(let description) = self.description { return description }
        return nil
    }

    /// Whether it takes what is published, and not what is routed.
    var isSubscriber: Bool {
        if case .subscription = self.description { return true }
        return false
    }

    /// Whether it stands for a target of a configuration that is not registered.
    var isUnbound: Bool {
        if case .unbound = self.description { return true }
        return false
    }
}
