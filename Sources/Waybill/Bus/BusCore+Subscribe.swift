internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Subscribes code that cannot suspend.
    func subscribe(
        immediate body: @escaping @Sendable (Message) throws -> Void,
        _ mailbox: Mailbox,
        _ pattern: String
    ) throws(RoutingError) -> Registration {
        let handler = Handler(immediate: body, mailbox: mailbox, core: self)
        return try self.subscribe(Subscriber(handler, body), pattern)
    }

    /// Subscribes code that may suspend.
    func subscribe(
        suspending body: @escaping @Sendable (Message) async throws -> Void,
        _ mailbox: Mailbox,
        _ pattern: String
    ) throws(RoutingError) -> Registration {
        try self.subscribe(
            Subscriber(Handler(suspending: body, mailbox: mailbox, core: self)),
            pattern
        )
    }

    func subscribe(_ subscriber: Subscriber, _ pattern: String) throws(RoutingError) -> Registration {
        guard self.phase.load(ordering: .relaxed) == .open else { throw .shutDown(url: pattern) }
        let configuration = self.configuration
        let read = try configuration.pattern(pattern)
        let id = try self.topics.add(subscriber, to: read) { configuration.table(of: Int.self) }
        guard let id else { throw .shutDown(url: pattern) }
        subscriber.handler?.describe(as: .pattern(pattern))
        return Registration(pattern: pattern, core: self, target: .subscription(id))
    }

    func unsubscribe(_ id: Topics.SubscriberID) {
        guard let subscriber = self.topics.remove(id) else { return }
        subscriber.retire(with: RoutingError.unregistered)
        self.forget()
    }
}
