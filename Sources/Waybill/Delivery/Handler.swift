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
    let mailbox: Mailbox
    let core: BusCore

    /// The exchanges that wait for this handler, or nil once it has been unregistered.
    private let pending = Locked<[ObjectIdentifier: Exchange]?>([:])

    init(_ body: Body, mailbox: Mailbox, core: BusCore) {
        self.body = body
        self.mailbox = mailbox
        self.core = core
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
