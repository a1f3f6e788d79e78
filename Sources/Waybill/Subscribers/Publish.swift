public import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Subscribes a closure to a pattern.
    ///
    /// A pattern may have any number of subscribers. The closure runs on the bus's loop.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the URLs to subscribe to.
    ///   - handler: The closure, which cannot suspend.
    /// - Returns: A registration that can end the subscription. The subscription continues when you drop the
    ///   registration.
    /// - Throws: `invalidPattern`, or `shutDown`.
    @discardableResult
    public func subscribe(
        _ pattern: String,
        _ handler: @escaping @Sendable (Message) throws -> Void
    ) throws(RoutingError) -> Registration {
        try self.core.subscribe(Handler(synchronous: handler, core: self.core), to: pattern)
    }

    /// Subscribes a closure that may suspend, on the bus's loop.
    @discardableResult
    public func subscribe(
        _ pattern: String,
        _ handler: @escaping @Sendable (Message) async throws -> Void
    ) throws(RoutingError) -> Registration {
        try self.core.subscribe(Handler(suspending: handler, core: self.core), to: pattern)
    }

    /// Subscribes code of an actor that cannot suspend, on the actor's loop.
    ///
    /// The bus holds the actor while the actor is subscribed.
    @discardableResult
    public func subscribe<Module: LoopBound>(
        _ pattern: String,
        on module: Module,
        _ handler: @escaping @Sendable (isolated Module, Message) throws -> Void
    ) throws(RoutingError) -> Registration {
        // The bus calls a handler that cannot suspend only on the loop of its mailbox, the loop of the actor.
        let code = SynchronousBody(unsafe IsolatedBody(handler).unisolated(module))
        return try self.core.subscribe(Handler(.synchronous(code), of: module, core: self.core), to: pattern)
    }

    /// Subscribes code of an actor that may suspend, on the actor's loop.
    @discardableResult
    public func subscribe<Module: LoopBound>(
        _ pattern: String,
        on module: Module,
        _ handler: @escaping @Sendable (isolated Module, Message) async throws -> Void
    ) throws(RoutingError) -> Registration {
        let code = ActorCode(module, handler)
        return try self.core.subscribe(Handler(.suspending(code), of: module, core: self.core), to: pattern)
    }

    /// Subscribes to a pattern, and returns the published messages as a sequence.
    ///
    /// ```swift
    /// for await message in try bus.subscription(to: "app://prices/:symbol", whenFull: .dropOldest) {
    ///     show(message.parameters["symbol"])
    /// }
    /// ```
    ///
    /// The reader may run on any thread, and may be slower than the publishers. A message that waits to be
    /// read counts as in flight. ``publish(_:parameters:headers:deadline:timeout:)`` does not wait until a
    /// message is read.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the URLs to subscribe to.
    ///   - limit: The maximum number of waiting messages, at least one; nil for the mailbox limit of the bus.
    ///   - whenFull: The policy for a message that arrives when the buffer is full. With `fail`, this
    ///     subscriber does not receive the message. With `suspend`, the publisher of the message waits for
    ///     room, so a reader that publishes to its own subscription may wait for itself. With `dropOldest`,
    ///     the oldest waiting message becomes a dead letter.
    /// - Returns: The messages that are published after this call.
    /// - Throws: `invalidPattern`, or `shutDown`.
    public func subscription(
        to pattern: String,
        limit: Int? = nil,
        whenFull: MailboxConfiguration.Overflow = .fail
    ) throws(RoutingError) -> SubscriptionSequence {
        let limit = limit ?? self.core.configuration.mailboxLimit
        let buffer = SubscriptionBuffer(of: pattern, limit: limit, whenFull: whenFull, core: self.core)
        let read = try self.core.currentConfiguration.pattern(pattern)
        return SubscriptionSequence(buffer, try self.core.subscribe(Subscriber(buffer), to: read))
    }

    /// Publishes a message to all subscribers of a URL, and waits until all subscribers have finished.
    ///
    /// The subscribers begin in the order of subscription. A subscriber that suspends does not delay the
    /// next ones.
    ///
    /// An error of one subscriber does not affect the other subscribers, and the bus logs the error as a
    /// warning. A publication does not have a single reply, so the fragment of the URL is not a return URL.
    /// The subscribers may read the fragment.
    ///
    /// This method has the parameters of ``route(_:parameters:headers:deadline:timeout:)``. The deadline also
    /// cancels the subscribers that have not finished.
    ///
    /// - Returns: The number of subscribers that accepted the message.
    /// - Throws: `invalidURL`, `shutDown`, `hopLimitExceeded`, or `deadlineExceeded` if the deadline has
    ///   passed before the publication begins.
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
    fileprivate func subscribe(_ handler: Handler, to pattern: String) throws(RoutingError) -> Registration {
        try self.subscribe(Subscriber(handler), to: self.currentConfiguration.pattern(pattern))
    }

    func subscribe(_ subscriber: Subscriber, to pattern: RoutePattern) throws(RoutingError) -> Registration {
        try self.checkOpen(for: pattern.text)
        // Describe the handler first, because a publication reaches it as soon as it is in the table.
        subscriber.handler?.describe(as: .subscription(pattern.text))
        let id = try self.topics.subscribe(subscriber, to: pattern) {
            self.currentConfiguration.table(of: Int.self)
        }
        guard let id else { throw .shutDown(url: pattern.text) }
        if let handler = subscriber.handler {
            self.mailboxes.withLock { $0.releaseModule(of: handler.mailbox) }
        }
        return Registration(pattern: pattern.text) {
            guard let subscriber = self.topics.unsubscribe(id) else { return }
            subscriber.retire(with: RoutingError.unregistered)
            self.forget()
        }
    }
}
