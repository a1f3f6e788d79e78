public import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Subscribes a closure to a pattern; any number of subscribers may have the same one.
    ///
    /// It runs on the bus's loop, as a handler does.
    ///
    /// - Returns: what ends the subscription; it goes on if this is dropped.
    /// - Throws: `invalidPattern`.
    @discardableResult
    public func subscribe(
        _ pattern: String,
        _ handler: @escaping @Sendable (Message) throws -> Void
    ) throws(RoutingError) -> Subscription {
        try self.core.subscribe(
            Handler(immediate: handler, mailbox: self.core.homeMailbox, core: self.core),
            pattern
        )
    }

    /// Subscribes a closure that may suspend.
    @discardableResult
    public func subscribe(
        _ pattern: String,
        _ handler: @escaping @Sendable (Message) async throws -> Void
    ) throws(RoutingError) -> Subscription {
        try self.core.subscribe(
            Handler(suspending: handler, mailbox: self.core.homeMailbox, core: self.core),
            pattern
        )
    }

    /// Subscribes code of an actor, on the actor's loop.
    @discardableResult
    public func subscribe<Module: LoopBound>(
        _ pattern: String,
        on module: Module,
        _ handler: @escaping @Sendable (isolated Module, Message) async throws -> Void
    ) throws(RoutingError) -> Subscription {
        let suspending: @Sendable (Message) async throws -> Void = { try await handler(module, $0) }
        return try self.core.subscribe(
            Handler(suspending: suspending, mailbox: self.core.mailbox(of: module), core: self.core),
            pattern
        )
    }

    /// Gives a message to every subscriber of the URL, all at once, and waits until the last is done.
    ///
    /// A subscriber that throws concerns nobody else, and is a warning in the log. A fragment is left to the
    /// subscribers: there is no single reply, and so no return leg.
    ///
    /// - Returns: how many subscribers took it.
    /// - Throws: `invalidURL`, or `shutDown`.
    @discardableResult
    public nonisolated(nonsending) func publish(
        _ url: String,
        parameters: [String: any Sendable] = [:],
        headers: [String: String] = [:],
        deadline: ContinuousClock.Instant? = nil
    ) async throws(RoutingError) -> Int {
        try await self.core.publish(
            Request(url, parameters, headers, deadline)
        )
    }
}
