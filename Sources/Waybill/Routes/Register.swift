internal import Synchronization
public import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Registers a closure that answers at once.
    ///
    /// It runs on the bus's loop. Because it cannot suspend it is called in place, which makes it the fastest
    /// kind of handler; it must not block, since everything else on the loop waits for it.
    ///
    /// A caller on another thread waits in the mailbox. If it is cancelled, the handler is unregistered, or
    /// the loop or the bus is shut down before the handler begins, the handler is not called and the caller
    /// is free at once.
    ///
    /// The bus holds the handler, so a handler that holds the bus keeps both for good. One that routes on
    /// captures the bus `[weak bus]`, or `[unowned bus]` if it only ever runs for callers that hold the bus.
    ///
    /// - Parameters:
    ///   - pattern: what URLs it handles: `app://user/:uid`.
    ///   - fileID: where it is registered, for the message of a conflict.
    ///   - line: where it is registered, for the message of a conflict.
    ///   - handler: turns a message into a value; `Void` if there is nothing to say.
    /// - Returns: what unregisters it; it stays registered if this is dropped.
    /// - Throws: `invalidPattern`, or `conflict` naming the pattern that matches the same URLs.
    @discardableResult
    public func register<Value: Sendable>(
        _ pattern: String,
        fileID: String = #fileID,
        line: Int = #line,
        _ handler: @escaping @Sendable (Message) throws -> Value
    ) throws(RoutingError) -> Registration {
        let handler = Handler(immediate: handler, mailbox: self.core.homeMailbox, core: self.core)
        return try self.core.register(handler, pattern, fileID, line)
    }

    /// Registers a closure that may suspend.
    ///
    /// It runs on the bus's loop, in a task of its own that inherits the caller's task-local values and is
    /// cancelled when the caller is, or when its deadline passes. Handlers interleave where they suspend, as
    /// actors do.
    ///
    /// Parameters, result and errors are those of the closure that answers at once.
    @discardableResult
    public func register<Value: Sendable>(
        _ pattern: String,
        fileID: String = #fileID,
        line: Int = #line,
        _ handler: @escaping @Sendable (Message) async throws -> Value
    ) throws(RoutingError) -> Registration {
        let handler = Handler(suspending: handler, mailbox: self.core.homeMailbox, core: self.core)
        return try self.core.register(handler, pattern, fileID, line)
    }

    /// Registers code of an actor that answers at once, on the actor's loop.
    ///
    /// ```swift
    /// try bus.register("app://users/:uid", on: accounts) { accounts, message in
    ///     accounts.detail(uid: try message.parameters.require("uid"))
    /// }
    /// ```
    ///
    /// The bus holds the actor while it is registered. Parameters, result and errors are those of a closure
    /// without an actor.
    @inlinable
    @discardableResult
    public func register<Module: LoopBound, Value: Sendable>(
        _ pattern: String,
        on module: Module,
        fileID: String = #fileID,
        line: Int = #line,
        _ handler: @escaping @Sendable (isolated Module, Message) throws -> Value
    ) throws(RoutingError) -> Registration {
        // A handler that cannot suspend is called on the loop of its mailbox only, which is the actor's.
        let code = ImmediateBody(unsafe IsolatedBody(handler).unisolated(module))
        return try self.register(.immediate(code), of: module, pattern, fileID, line)
    }

    /// Registers code of an actor that may suspend, on the actor's loop.
    ///
    /// It runs in a task of its own, as a closure that may suspend does.
    @inlinable
    @discardableResult
    public func register<Module: LoopBound, Value: Sendable>(
        _ pattern: String,
        on module: Module,
        fileID: String = #fileID,
        line: Int = #line,
        _ handler: @escaping @Sendable (isolated Module, Message) async throws -> Value
    ) throws(RoutingError) -> Registration {
        let code = ActorCode(module, handler)
        return try self.register(.suspending(code), of: module, pattern, fileID, line)
    }

    @usableFromInline
    func register(
        _ code: HandlerCode,
        of module: some LoopBound,
        _ pattern: String,
        _ fileID: String,
        _ line: Int
    ) throws(RoutingError) -> Registration {
        try self.core.register(Handler(code, of: module, core: self.core), pattern, fileID, line)
    }

    // Disfavored, or a trailing closure may be taken for the object instead of a handler.
    /// Binds an object to a URL: a caller that routes the URL gets the object.
    @_disfavoredOverload
    @discardableResult
    public func register(
        _ pattern: String,
        object: some Sendable,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> Registration {
        try self.register(pattern, fileID: fileID, line: line) { _ in object }
    }
}

extension BusCore {
    func register(
        _ handler: Handler,
        _ pattern: String,
        _ fileID: String,
        _ line: Int
    ) throws(RoutingError) -> Registration {
        handler.describe(as: .pattern(pattern))
        return try self.register([.handler(handler)], fileID, line)[0]
    }

    /// Registers targets for the patterns that they are described with: all of them, or none.
    func register(
        _ targets: [Target],
        _ fileID: String,
        _ line: Int
    ) throws(RoutingError) -> [Registration] {
        let patterns = targets.map { $0.pattern ?? "" }
        if patterns.count > 1 {
            // A pattern that cannot be read must be found before another one has replaced a handler.
            for pattern in patterns { _ = try self.configuration.pattern(pattern) }
        }
        let (ids, replaced) = try self.registry.change { table, _ throws(RoutingError) in
            // Checked under the lock: the shutdown that empties the table afterwards finds the handler, or it
            // is not registered.
            guard self.phase.load(ordering: .sequentiallyConsistent) == .open else {
                throw .shutDown(url: patterns.first ?? "")
            }
            let replaces = self.configuration.conventions.sameShape == .replaces
            // If a later pattern fails, what an earlier one has replaced comes back as it was, known by the
            // same ID. One pattern replaces nothing unless it can be inserted.
            let before = replaces && patterns.count > 1 ? table : nil
            var ids: [RouteID] = []
            var replaced: [Target] = []
            do throws(RoutingError) {
                for (pattern, target) in zip(patterns, targets) {
                    if replaces {
                        replaced += table.removeRivals(of: try table.pattern(pattern)).map(\.handler)
                    }
                    ids.append(try table.insert(pattern, target, fileID: fileID, line: line))
                }
            } catch {
                for id in ids { _ = table.remove(id) }
                if let before { table = before }
                throw error
            }
            return (ids, replaced)
        }
        self.retire(replaced)
        return zip(patterns, ids).map { Registration(pattern: $0, core: self, target: .route($1)) }
    }

    func unregister(_ target: Registration.Target) {
        switch target {
        case .route(let id): self.removeRoute(id)
        case .connection(let id): self.disconnect { $0.id == id }
        case .service(let id): self.withdraw(id)
        case .subscription(let id): self.unsubscribe(id)
        case .middleware(let id?):
            self.registry.intercept { $0.remove(id) }
            self.forget()
        case .middleware(nil): break
        case .exposure(let id):
            self.exposures.remove(id)
            self.registry.noteChange()
        case .share(let id):
            self.shares.remove(id)
            self.registry.noteChange()
        case .cluster(let id): self.leaveCluster(id)
        }
    }

    /// Removes the route of a registration.
    ///
    /// A route that a configured route hides is in the register of configurations. A route that was hidden
    /// once has another ID in the table, which that register knows.
    private func removeRoute(_ id: RouteID) {
        guard self.remove({ table in [table.remove(id)] }) == 0 else { return }
        let hidden = self.configured.withLock { register -> Target? in
            guard !register.isEmpty else { return nil }
            return self.registry.change { table, _ in register.removeHidden(id, from: &table) }
        }
        guard let hidden else { return }
        self.retire([hidden])
        if hidden.routeDescription != nil { self.reconfigure() }
    }

    /// Takes targets out of the table, and then fails the callers that wait for them.
    @discardableResult
    func remove(_ body: (inout RouteTable<Target>) -> [Target?]) -> Int {
        let removed = self.registry.change { table, _ in body(&table) }
        let targets = removed.compactMap(\.self)
        self.retire(targets)
        if targets.contains(where: { $0.routeDescription != nil }) { self.reconfigure() }
        return targets.count
    }

    func retire(_ targets: [Target]) {
        guard !targets.isEmpty else { return }
        for target in targets { target.retire(with: RoutingError.unregistered) }
        self.forget()
    }

    /// Unregisters everything, since the bus ends, and fails all waiting exchanges but the exempt ones.
    func retireAll(exempting exempt: [Exchange] = []) {
        self.phase.store(.closed, ordering: .sequentiallyConsistent)
        let removed = self.registry.change { table, connections in
            let targets = table.routes.map { table.handler(for: $0.id) }
            table.removeAll()
            return targets + connections.remove { _ in true }.map { .connector($0.handler) }
        }
        self.endTraces(self.registry.intercept { $0.close() })
        for target in removed.compactMap(\.self) {
            target.retire(with: RoutingError.shutDown, exempting: exempt)
        }
        for subscriber in self.topics.close() {
            subscriber.retire(with: RoutingError.shutDown, exempting: exempt)
        }
        // Those of an earlier end are in no handler's list any more.
        for late in self.exempt.withLock({ $0.exchanges }) where !exempt.contains(where: { $0 === late }) {
            late.finish(.failed(.shutDown(url: late.url)))
        }
        let uncaught = self.uncaught.withLock { $0.take() }
        _ = consume uncaught
        // Hidden routes are in no table. The rest of the register is released outside of the lock.
        let configured = self.configured.withLock { register in
            defer { register = ConfigurationRegister() }
            return register
        }
        for target in configured.hiddenTargets {
            target.retire(with: RoutingError.shutDown, exempting: exempt)
        }
        self.attachments.removeAll()
        self.withdrawAll()
        self.unwatch()
        self.forget()
        self.closeDeadLetters()
    }

    /// Ends traces that do not end by themselves within a second: a message on its way still holds them.
    private func endTraces(_ ends: [@Sendable () -> Void]) {
        guard !ends.isEmpty else { return }
        DeadlineWatch.timekeeper.schedule(at: Deadline(.now + .seconds(1))) { for end in ends { end() } }
    }
}
