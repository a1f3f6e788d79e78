internal import Synchronization
public import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Registers a closure that cannot suspend.
    ///
    /// The closure runs on the bus's loop. Because it cannot suspend, the bus calls it in place, which makes
    /// it the fastest kind of handler. The closure must not block, since it would block all other work on the
    /// loop.
    ///
    /// A message from another thread waits in the mailbox. The wait ends early when the caller is cancelled,
    /// when the handler is unregistered, or when the loop or the bus is shut down. The handler is then not
    /// called, and the caller fails at once.
    ///
    /// The bus holds a strong reference to the handler. If the handler also holds the bus, neither is ever
    /// released. A handler that routes messages should capture the bus as `[weak bus]`, or as `[unowned bus]`
    /// if all of its callers hold the bus.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the URLs that the closure handles, for example `app://user/:uid`.
    ///   - fileID: The source file of the registration, for the message of a conflict.
    ///   - line: The source line of the registration, for the message of a conflict.
    ///   - handler: The closure, which turns a message into a value. The value is `Void` if there is nothing
    ///     to return.
    /// - Returns: A registration that can unregister the handler. The handler stays registered when the
    ///   registration is dropped.
    /// - Throws: `invalidPattern`, or `conflict` naming the pattern that matches the same URLs.
    @discardableResult
    public func register<Value: Sendable>(
        _ pattern: String,
        fileID: String = #fileID,
        line: Int = #line,
        _ handler: @escaping @Sendable (Message) throws -> Value
    ) throws(RoutingError) -> Registration {
        let handler = Handler(immediate: handler, mailbox: self.core.homeMailbox, core: self.core)
        return try self.core.register(handler, pattern, fileID: fileID, line: line)
    }

    /// Registers a closure that may suspend.
    ///
    /// The closure runs on the bus's loop, in its own task. The task inherits the caller's task-local values.
    /// It is cancelled when the caller is cancelled or when the deadline passes. Handlers interleave at their
    /// suspension points, as actor methods do.
    ///
    /// Parameters, result and errors are described at the overload for closures that cannot suspend.
    @discardableResult
    public func register<Value: Sendable>(
        _ pattern: String,
        fileID: String = #fileID,
        line: Int = #line,
        _ handler: @escaping @Sendable (Message) async throws -> Value
    ) throws(RoutingError) -> Registration {
        let handler = Handler(suspending: handler, mailbox: self.core.homeMailbox, core: self.core)
        return try self.core.register(handler, pattern, fileID: fileID, line: line)
    }

    /// Registers code of an actor that cannot suspend, on the actor's loop.
    ///
    /// ```swift
    /// try bus.register("app://users/:uid", on: accounts) { accounts, message in
    ///     accounts.detail(uid: try message.parameters.require("uid"))
    /// }
    /// ```
    ///
    /// The bus holds the actor while the code is registered. Parameters, result and errors are described at
    /// the overload for closures without an actor.
    @inlinable
    @discardableResult
    public func register<Module: LoopBound, Value: Sendable>(
        _ pattern: String,
        on module: Module,
        fileID: String = #fileID,
        line: Int = #line,
        _ handler: @escaping @Sendable (isolated Module, Message) throws -> Value
    ) throws(RoutingError) -> Registration {
        // The bus calls a handler that cannot suspend only on the loop of its mailbox, which is the actor's
        // loop.
        let code = ImmediateBody(unsafe IsolatedBody(handler).unisolated(module))
        return try self.register(.immediate(code), of: module, pattern, fileID: fileID, line: line)
    }

    /// Registers code of an actor that may suspend, on the actor's loop.
    ///
    /// The code runs in its own task, as a closure that may suspend does.
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
        return try self.register(.suspending(code), of: module, pattern, fileID: fileID, line: line)
    }

    @usableFromInline
    func register(
        _ code: HandlerCode,
        of module: some LoopBound,
        _ pattern: String,
        fileID: String,
        line: Int
    ) throws(RoutingError) -> Registration {
        try self.core.register(
            Handler(code, of: module, core: self.core),
            pattern,
            fileID: fileID,
            line: line
        )
    }

    // The overload is disfavored, because a trailing closure could otherwise be interpreted as the object.
    /// Binds an object to a URL: a caller that routes the URL receives the object.
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
        fileID: String,
        line: Int
    ) throws(RoutingError) -> Registration {
        handler.describe(as: .pattern(pattern))
        return try self.register([.handler(handler)], fileID: fileID, line: line)[0]
    }

    /// Registers targets for the patterns in their descriptions: either all of them or none.
    func register(
        _ targets: [Target],
        fileID: String,
        line: Int
    ) throws(RoutingError) -> [Registration] {
        let patterns = targets.map { $0.pattern ?? "" }
        if patterns.count > 1 {
            // An invalid pattern must be found before another pattern has replaced a handler.
            for pattern in patterns { _ = try self.configuration.pattern(pattern) }
        }
        let (ids, replaced) = try self.registry.change { table, _ throws(RoutingError) in
            // Check the phase under the lock. A handler is then either rejected here, or found by the
            // shutdown that empties the table afterwards.
            guard self.phase.load(ordering: .sequentiallyConsistent) == .open else {
                throw .shutDown(url: patterns.first ?? "")
            }
            let replaces = self.configuration.conventions.sameShape == .replaces
            // If a later pattern fails, the routes that an earlier pattern has replaced are restored with the
            // same IDs. A single pattern needs no copy, because it replaces nothing unless it can be
            // inserted.
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
        case .service(let id): self.endOffer(id)
        case .subscription(let id): self.unsubscribe(id)
        case .middleware(let id?):
            self.registry.intercept { $0.remove(id) }
            self.forget()
        case .middleware(nil): break
        case .exposure(let id):
            self.exposures.hide(id)
            self.registry.noteChange()
        case .share(let id):
            self.shares.hide(id)
            self.registry.noteChange()
        case .cluster(let id): self.leaveCluster(id)
        }
    }

    /// Removes the route of a registration.
    ///
    /// A route that a configured route hides is not in the table but in the register of configurations. A
    /// route that was hidden and then restored has a new ID in the table, which the register maps to its
    /// registration.
    private func removeRoute(_ id: RouteID) {
        guard self.unregister({ table in [table.remove(id)] }) == 0 else { return }
        let hidden = self.configured.withLock { register -> Target? in
            guard !register.isEmpty else { return nil }
            return self.registry.change { table, _ in register.removeHidden(id, from: &table) }
        }
        guard let hidden else { return }
        self.retire([hidden])
        if hidden.routeDescription != nil { self.reconfigure() }
    }

    /// Removes targets from the table, and then fails the callers that wait for them.
    @discardableResult
    func unregister(_ body: (inout RouteTable<Target>) -> [Target?]) -> Int {
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

    /// Unregisters everything because the bus ends, and fails all waiting exchanges except the exempt ones.
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
        // Exchanges that an earlier call exempted are no longer in any handler's list.
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

    /// Ends traces that do not end by themselves within a second, because a message in flight still holds
    /// them.
    private func endTraces(_ ends: [@Sendable () -> Void]) {
        guard !ends.isEmpty else { return }
        DeadlineWatch.timekeeper.schedule(at: Deadline(.now + .seconds(1))) { for end in ends { end() } }
    }
}
