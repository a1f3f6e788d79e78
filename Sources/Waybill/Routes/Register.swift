internal import Synchronization
public import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Registers a closure that cannot suspend.
    ///
    /// The bus calls the closure in place on its loop, which is the fastest kind of handler. The closure must
    /// not block, because it would block all other work on the loop.
    ///
    /// A message from another thread waits in the mailbox. The wait ends early when the caller is cancelled,
    /// when the handler is unregistered, or when the loop or the bus is shut down. The bus then does not call
    /// the handler, and the caller fails at once.
    ///
    /// The bus holds a strong reference to the handler. If the handler also holds the bus, neither object is
    /// ever released. A handler that routes messages should capture the bus as `[weak bus]`, or as `[unowned
    /// bus]` if all of the handler's callers hold the bus.
    ///
    /// - Parameters:
    ///   - pattern: The pattern of the URLs that the closure handles, for example `app://user/:uid`.
    ///   - fileID: The source file of the registration, for the text of a `conflict` error.
    ///   - line: The source line of the registration, for the text of a `conflict` error.
    ///   - handler: The closure, which turns a message into a value. A closure that has nothing to return
    ///     returns `Void`.
    /// - Returns: A registration that can unregister the handler. The handler stays registered when you drop
    ///   the registration.
    /// - Throws: `invalidPattern`, or `conflict` with the name of the pattern that matches the same URLs.
    @discardableResult
    public func register<Value: Sendable>(
        _ pattern: String,
        fileID: String = #fileID,
        line: Int = #line,
        _ handler: @escaping @Sendable (Message) throws -> Value
    ) throws(RoutingError) -> Registration {
        let handler = Handler(synchronous: handler, core: self.core)
        return try self.core.register(handler, pattern, fileID: fileID, line: line)
    }

    /// Registers a closure that may suspend.
    ///
    /// The closure runs on the bus's loop, in its own task. The task inherits the caller's task-local values.
    /// The bus cancels the task when the caller is cancelled or when the deadline passes. While one handler
    /// is suspended, another handler can run, as with the methods of an actor.
    ///
    /// The overload for closures that cannot suspend describes the parameters, the result and the errors.
    @discardableResult
    public func register<Value: Sendable>(
        _ pattern: String,
        fileID: String = #fileID,
        line: Int = #line,
        _ handler: @escaping @Sendable (Message) async throws -> Value
    ) throws(RoutingError) -> Registration {
        let handler = Handler(suspending: handler, core: self.core)
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
    /// The bus holds the actor while the code is registered.
    @inlinable
    @discardableResult
    public func register<Module: LoopBound, Value: Sendable>(
        _ pattern: String,
        on module: Module,
        fileID: String = #fileID,
        line: Int = #line,
        _ handler: @escaping @Sendable (isolated Module, Message) throws -> Value
    ) throws(RoutingError) -> Registration {
        // The bus calls a handler that cannot suspend only on the loop of its mailbox, the loop of the actor.
        let code = SynchronousBody(unsafe IsolatedBody(handler).unisolated(module))
        return try self.register(.synchronous(code), of: module, pattern, fileID: fileID, line: line)
    }

    /// Registers code of an actor that may suspend, on the actor's loop.
    ///
    /// The code runs in its own task, like a closure that may suspend.
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
        let handler = Handler(code, of: module, core: self.core)
        return try self.core.register(handler, pattern, fileID: fileID, line: line)
    }

    // The overload is disfavored, because the compiler could otherwise interpret a trailing closure as the
    // object.
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

    /// Registers targets for the patterns in their descriptions: either all of the targets or none.
    func register(_ targets: [Target], fileID: String, line: Int) throws(RoutingError) -> [Registration] {
        let patterns = targets.map { $0.pattern ?? "" }
        if patterns.count > 1 {
            // Find an invalid pattern before an earlier pattern of the list replaces a handler.
            for pattern in patterns { _ = try self.configuration.pattern(pattern) }
        }
        let (ids, replaced) = try self.registry.change { table, _ throws(RoutingError) in
            // Check the phase under the lock. The target is then either rejected here, or it is in the table
            // when the shutdown empties the table.
            try self.checkOpen(for: patterns.first ?? "")
            let replaces = self.configuration.conventions.sameShape == .replaces
            // If a later pattern fails, restore the routes that an earlier pattern has replaced, with the
            // same IDs. A single pattern needs no copy of the table, because it replaces a route only if its
            // own insertion succeeds.
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
        self.mailboxes.withLock { mailboxes in
            for handler in targets.flatMap(\.members) { mailboxes.releaseModule(of: handler.mailbox) }
        }
        self.retire(replaced)
        self.reconfigure(after: targets + replaced)
        return zip(patterns, ids).map { pattern, id in
            Registration(pattern: pattern) { self.removeRoute(id) }
        }
    }

    /// Removes the route of a registration.
    ///
    /// A configured route can hide another route. The hidden route is in the register of configurations and
    /// not in the table. When the hidden route is restored, the route gets a new ID in the table, and the
    /// register maps the ID of the route's registration to the new ID.
    private func removeRoute(_ id: RouteID) {
        guard self.unregister({ table in [table.remove(id)] }) == 0 else { return }
        let hidden = self.configured.withLock { register -> Target? in
            guard !register.isEmpty else { return nil }
            return self.registry.change { table, _ in register.removeHidden(id, from: &table) }
        }
        guard let hidden else { return }
        self.retire([hidden])
        self.reconfigure(after: [hidden])
    }

    /// Removes targets from the table, and then fails the callers that wait for these targets.
    @discardableResult
    func unregister(_ body: (inout RouteTable<Target>) -> [Target?]) -> Int {
        let targets = self.registry.change { table, _ in body(&table) }.compactMap(\.self)
        self.retire(targets)
        self.reconfigure(after: targets)
        return targets.count
    }

    func retire(_ targets: [Target]) {
        guard !targets.isEmpty else { return }
        for target in targets { target.retire(with: RoutingError.unregistered) }
        self.forget()
    }

    /// Unregisters everything because the bus shuts down, and fails waiting exchanges that are not exempt.
    func retireAll(exempting exempt: [Exchange] = []) {
        self.phase.store(.closed, ordering: .sequentiallyConsistent)
        let removed = self.registry.change { table, connections in
            let targets = table.entries.map(\.handler)
            table.removeAll()
            return (targets: targets, connections: connections.remove { _ in true })
        }
        for connection in removed.connections { connection.onEnd?() }
        self.endTraces(self.registry.changeMiddlewares { $0.close() })
        for target in removed.targets + removed.connections.map({ .handler($0.handler) }) {
            target.retire(with: RoutingError.shutDown, exempting: exempt)
        }
        for subscriber in self.topics.close() {
            subscriber.retire(with: RoutingError.shutDown, exempting: exempt)
        }
        let withoutHandler = self.withoutHandler.withLock { Swift.exchange(&$0, with: nil) } ?? [:]
        // Exchanges that an earlier call exempted are no longer attached to a handler.
        for late in self.exemptExchanges + withoutHandler.values
        where !exempt.contains(where: { $0 === late }) {
            late.finish(.failed(.shutDown(url: late.url)))
        }
        _ = self.uncaught.withLock { $0.take() }
        _ = self.readinessChecks.withLock { $0.takeAll() }
        // Hidden routes are not in the table, so retire them here.
        let configured = self.configured.withLock { Swift.exchange(&$0, with: ConfigurationRegister()) }
        for target in configured.hiddenTargets {
            target.retire(with: RoutingError.shutDown, exempting: exempt)
        }
        self.attachments.removeAll()
        _ = self.services.withLock { Swift.exchange(&$0, with: ServiceRegister()) }
        _ = self.mailboxes.withLock { $0.releaseAllModules() }
        self.unwatch()
        self.forget()
        self.closeDeadLetters()
    }

    /// Ends the traces that are still open after a second, because a message in flight still retains them.
    private func endTraces(_ observers: [Observer<MessageTrace.Event>]) {
        guard !observers.isEmpty else { return }
        DeadlineWatch.timekeeper.schedule(at: Deadline(.now + .seconds(1))) {
            for observer in observers { observer.finish() }
        }
    }
}
