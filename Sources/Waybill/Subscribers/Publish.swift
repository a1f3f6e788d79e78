internal import Synchronization
public import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Subscribes a closure to a pattern; any number of subscribers may have the same one.
    ///
    /// It runs on the bus's loop, as a handler does.
    ///
    /// - Returns: what ends the subscription; it continues if this is dropped.
    /// - Throws: `invalidPattern`.
    @discardableResult
    public func subscribe(
        _ pattern: String,
        _ handler: @escaping @Sendable (Message) throws -> Void
    ) throws(RoutingError) -> Registration {
        try self.core.subscribe(immediate: handler, self.core.homeMailbox, pattern)
    }

    /// Subscribes a closure that may suspend.
    @discardableResult
    public func subscribe(
        _ pattern: String,
        _ handler: @escaping @Sendable (Message) async throws -> Void
    ) throws(RoutingError) -> Registration {
        try self.core.subscribe(suspending: handler, self.core.homeMailbox, pattern)
    }

    /// Subscribes code of an actor that answers at once, on the actor's loop.
    ///
    /// The bus holds the actor while it is subscribed.
    @discardableResult
    public func subscribe<Module: LoopBound>(
        _ pattern: String,
        on module: Module,
        _ handler: @escaping @Sendable (isolated Module, Message) throws -> Void
    ) throws(RoutingError) -> Registration {
        // A handler that cannot suspend is called on the loop of its mailbox only, which is the actor's.
        try self.core.subscribe(
            immediate: unsafe IsolatedBody(handler).unisolated(module),
            self.core.mailbox(of: module),
            pattern
        )
    }

    /// Subscribes code of an actor that may suspend, on the actor's loop.
    @discardableResult
    public func subscribe<Module: LoopBound>(
        _ pattern: String,
        on module: Module,
        _ handler: @escaping @Sendable (isolated Module, Message) async throws -> Void
    ) throws(RoutingError) -> Registration {
        try self.core.subscribe(
            Subscriber(
                Handler(.suspending(ActorCode(module, handler)), of: module, core: self.core)
            ),
            to: pattern
        )
    }

    /// Subscribes to a pattern, to read what is published one message after the other.
    ///
    /// ```swift
    /// for await message in try bus.subscription(to: "app://prices/:symbol", whenFull: .dropOldest) {
    ///     show(message.parameters["symbol"])
    /// }
    /// ```
    ///
    /// The reader may be anywhere, and be slower than the publishers. A message that waits to be read counts
    /// as in flight, and ``publish(_:parameters:headers:deadline:timeout:)`` does not wait for it.
    ///
    /// - Parameters:
    ///   - pattern: what to subscribe to.
    ///   - limit: how many messages may wait, at least one; nil for the bus's own limit for mailboxes.
    ///   - whenFull: what happens to one more. With `fail`, this subscriber does not take it. With `suspend`,
    ///     its publisher waits for room: so a reader that publishes to itself may wait for itself. With
    ///     `dropOldest`, the message that has waited longest is a dead letter.
    /// - Returns: the messages, from now on.
    /// - Throws: `invalidPattern`, or `shutDown`.
    public func subscription(
        to pattern: String,
        limit: Int? = nil,
        whenFull: MailboxConfiguration.Overflow = .fail
    ) throws(RoutingError) -> SubscriptionSequence {
        let limit = limit ?? self.core.configuration.mailboxLimit
        let buffer = SubscriptionBuffer(of: pattern, limit: limit, whenFull: whenFull, core: self.core)
        return SubscriptionSequence(buffer, try self.core.subscribe(Subscriber(buffer), to: pattern))
    }

    /// Gives a message to every subscriber of the URL, all at once, and waits until the last is done.
    ///
    /// A subscriber that throws affects no other subscriber, and is a warning in the log. A fragment is left
    /// to the subscribers: there is no single reply, and so no return leg.
    ///
    /// - Parameters:
    ///   - url: where to; without a scheme the default scheme is meant.
    ///   - parameters: values that join those of the URL and win over them; anything `Sendable`, closures
    ///     included.
    ///   - headers: text for the infrastructure, beside the parameters.
    ///   - deadline: when to stop waiting, and to cancel the subscribers that are not done; inside a handler,
    ///     the deadline of its message holds too.
    ///   - timeout: how long to wait, by the bus's clock; of deadline and timeout the earlier one holds, and
    ///     a timeout that is not positive is up at once.
    /// - Returns: how many subscribers took it.
    /// - Throws: `invalidURL`, `shutDown`, or `deadlineExceeded` if its time is up before it begins.
    @discardableResult
    public nonisolated(nonsending) func publish(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil,
        timeout: Duration? = nil
    ) async throws(RoutingError) -> Int {
        try await self.core.publish(
            Request(
                url: url,
                parameters: parameters,
                headers: headers,
                deadline: deadline,
                timeout: timeout,
                by: self.core.time
            )
        )
    }
}

extension BusCore {
    /// Subscribes code that cannot suspend.
    func subscribe(
        immediate body: @escaping @Sendable (Message) throws -> Void,
        _ mailbox: Mailbox,
        _ pattern: String
    ) throws(RoutingError) -> Registration {
        try self.subscribe(Subscriber(Handler(immediate: body, mailbox: mailbox, core: self)), to: pattern)
    }

    /// Subscribes code that may suspend.
    func subscribe(
        suspending body: @escaping @Sendable (Message) async throws -> Void,
        _ mailbox: Mailbox,
        _ pattern: String
    ) throws(RoutingError) -> Registration {
        try self.subscribe(Subscriber(Handler(suspending: body, mailbox: mailbox, core: self)), to: pattern)
    }

    func subscribe(_ subscriber: Subscriber, to pattern: String) throws(RoutingError) -> Registration {
        try self.subscribe(subscriber, to: self.currentConfiguration.pattern(pattern))
    }

    func subscribe(_ subscriber: Subscriber, to pattern: RoutePattern) throws(RoutingError) -> Registration {
        guard self.phase.load(ordering: .relaxed) == .open else { throw .shutDown(url: pattern.text) }
        let configuration = self.currentConfiguration
        let id = try self.topics.add(subscriber, to: pattern) { configuration.table(of: Int.self) }
        guard let id else { throw .shutDown(url: pattern.text) }
        subscriber.handler?.describe(as: .subscription(pattern.text))
        return Registration(pattern: pattern.text, core: self, target: .subscription(id))
    }

    func unsubscribe(_ id: Topics.SubscriberID) {
        guard let subscriber = self.topics.remove(id) else { return }
        subscriber.retire(with: RoutingError.unregistered)
        self.forget()
    }
}
