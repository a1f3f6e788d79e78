internal import WaybillEventLoop
internal import WaybillRouting

/// The code of one registration, and where it runs.
@usableFromInline
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
    private let code: (any AnyObject & Sendable)?

    /// The loop that it is called on.
    let loop: ObjectIdentifier

    let mailbox: Mailbox
    let core: BusCore

    /// The exchanges that wait for this handler, or nil once it has been unregistered.
    private let pending = Locked<[ObjectIdentifier: Exchange]?>([:])

    /// A handler that answers at once.
    init<Value: Sendable>(
        immediate: @escaping @Sendable (Message) throws -> Value,
        mailbox: Mailbox,
        core: BusCore
    ) {
        self.body = .immediate { try immediate($0) }
        self.code = ImmediateBody(immediate)
        self.loop = ObjectIdentifier(mailbox.eventLoop)
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
        self.code = nil
        self.loop = ObjectIdentifier(mailbox.eventLoop)
        self.mailbox = mailbox
        self.core = core
    }

    /// The ``ImmediateBody`` of a handler that cannot suspend; as a plain object, which is cheap to cast.
    @usableFromInline var typed: AnyObject? { self.code }

    /// Whether it can be called in place by a caller on its loop.
    var isImmediate: Bool { self.code != nil }

    /// Calls a handler that cannot suspend, and does not know the type of its answer.
    @usableFromInline
    func call(_ message: Message) throws -> any Sendable {
        guard case .immediate(let body) = self.body else {
            preconditionFailure("only a handler that cannot suspend is called in place")
        }
        return try body(message)
    }

    /// Notes that a caller waits, so that it can be told when the handler goes away.
    ///
    /// - Returns: false if the handler has gone already.
    func attach(_ exchange: Exchange) -> Bool {
        self.pending.withLock { pending in
            guard pending != nil else { return false }
            pending?[ObjectIdentifier(exchange)] = exchange
            return true
        }
    }

    func detach(_ exchange: Exchange) {
        _ = self.pending.withLock { $0?.removeValue(forKey: ObjectIdentifier(exchange)) }
    }

    /// Fails everybody who waits, and everybody who comes later.
    func retire(with error: (String) -> RoutingError) {
        let waiting = self.pending.withLock { pending in
            defer { pending = nil }
            return pending ?? [:]
        }
        for exchange in waiting.values { exchange.finish(.failed(error(exchange.url))) }
    }

    /// How many callers wait for a reply.
    var waiting: Int { self.pending.withLock { $0?.count ?? 0 } }
}
