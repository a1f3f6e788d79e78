internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

/// The code of one registration, and where it runs.
final class Handler: Sendable {
    /// Whether a handler can suspend.
    ///
    /// One that cannot is called in place: in the caller's task, without a hop if the caller is on the same loop. One that can suspend runs in a task of its own, so that its caller can be set free at any time.
    enum Body: Sendable {
        case immediate(@Sendable (Message) throws -> any Sendable)
        case suspending(@Sendable (Message) async throws -> any Sendable)
    }

    let body: Body

    /// The ``ImmediateBody`` of a handler that cannot suspend.
    let typed: (any AnyObject & Sendable)?

    let mailbox: Mailbox
    let core: BusCore

    /// Whether the handler has gone; who is on the way to it reads this without the lock.
    private let isRetired = Atomic<Bool>(false)
    private let state = Locked(State())

    private struct State {
        /// The exchanges that wait for the handler.
        var waiting: [ObjectIdentifier: Exchange] = [:]
        /// Why the handler has gone, if it has.
        var reason: (@Sendable (String) -> RoutingError)?
    }

    /// A handler that answers at once.
    init<Value: Sendable>(
        immediate: @escaping @Sendable (Message) throws -> Value,
        mailbox: Mailbox,
        core: BusCore
    ) {
        self.body = .immediate { try immediate($0) }
        self.typed = ImmediateBody(immediate)
        self.mailbox = mailbox
        self.core = core
    }

    /// A handler that may suspend.
    init<Value: Sendable>(
        suspending: @escaping @Sendable (Message) async throws -> Value,
        mailbox: Mailbox,
        core: BusCore
    ) {
        self.body = .suspending { try await suspending($0) }
        self.typed = nil
        self.mailbox = mailbox
        self.core = core
    }

    deinit { self.core.leave(self.mailbox) }

    /// Notes that a caller waits, so that it can be told when the handler goes away.
    ///
    /// - Returns: false if the handler has gone already.
    func attach(_ exchange: Exchange) -> Bool {
        self.state.withLock { state in
            guard state.reason == nil else { return false }
            state.waiting[ObjectIdentifier(exchange)] = exchange
            return true
        }
    }

    func detach(_ exchange: Exchange) {
        let detached = self.state.withLock { $0.waiting.removeValue(forKey: ObjectIdentifier(exchange)) }
        // Let go of outside the lock.
        _ = consume detached
    }

    /// Fails everybody who waits, and everybody who comes later.
    func retire(with reason: @escaping @Sendable (String) -> RoutingError) {
        let waiting = self.state.withLock { state in
            if state.reason == nil { state.reason = reason }
            defer { state.waiting = [:] }
            return state.waiting
        }
        self.isRetired.store(true, ordering: .releasing)
        for exchange in waiting.values { exchange.finish(.failed(reason(exchange.url))) }
    }

    /// Why a message may not be given to the handler any more, if so.
    func objection(to url: String) -> RoutingError? {
        guard self.isRetired.load(ordering: .acquiring) else { return nil }
        return self.state.withLock { $0.reason }?(url)
    }
}
