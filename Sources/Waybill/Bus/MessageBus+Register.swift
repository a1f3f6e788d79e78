public import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Registers a closure that answers at once.
    ///
    /// It runs on the bus's loop. Because it cannot suspend it is called in place, which makes it the fastest kind of
    /// handler; it must not block, since everything else on the loop waits for it.
    ///
    /// A caller on another thread, and without a deadline, waits for its turn on the loop: if it is cancelled, or the
    /// handler is unregistered, or the loop is shut down before the handler begins, the handler is not called, and the
    /// caller learns that when the loop gets there. With a deadline it is free at once.
    ///
    /// The bus holds the handler, so a handler that holds the bus keeps both for good. One that routes on captures the
    /// bus `[weak bus]`, or `[unowned bus]` if it only ever runs for callers that hold the bus.
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
    /// It runs on the bus's loop, in a task of its own that inherits the caller's task-local values and is cancelled
    /// when the caller is, or when its deadline passes. Handlers interleave where they suspend, as actors do.
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
    /// The bus holds the actor while it is registered. Parameters, result and errors are those of a closure without
    /// an actor.
    @discardableResult
    public func register<Module: LoopBound, Value: Sendable>(
        _ pattern: String,
        on module: Module,
        fileID: String = #fileID,
        line: Int = #line,
        _ handler: @escaping @Sendable (isolated Module, Message) throws -> Value
    ) throws(RoutingError) -> Registration {
        let plain = module.plain(handler)
        let handler = Handler(immediate: plain, mailbox: self.core.mailbox(of: module), core: self.core)
        return try self.core.register(handler, pattern, fileID, line)
    }

    /// Registers code of an actor that may suspend, on the actor's loop.
    ///
    /// It runs in a task of its own, as a closure that may suspend does.
    @discardableResult
    public func register<Module: LoopBound, Value: Sendable>(
        _ pattern: String,
        on module: Module,
        fileID: String = #fileID,
        line: Int = #line,
        _ handler: @escaping @Sendable (isolated Module, Message) async throws -> Value
    ) throws(RoutingError) -> Registration {
        let suspending: @Sendable (Message) async throws -> Value = { try await handler(module, $0) }
        let handler = Handler(suspending: suspending, mailbox: self.core.mailbox(of: module), core: self.core)
        return try self.core.register(handler, pattern, fileID, line)
    }

    // Disfavored, or a trailing closure may be taken for the object instead of a handler.
    /// Binds an object to a URL: whoever routes the URL gets the object.
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

    /// Sets what is told about every URL that no pattern matched; there is one such handler, the last one set.
    ///
    /// The caller of ``route(_:parameters:headers:deadline:timeout:)`` still gets its error. Without such a
    /// handler, a message that nobody awaits is a warning in the log. It runs on the bus's loop, with what
    /// could be read from the URL.
    public func setUncaughtHandler(_ handler: @escaping @Sendable (Message) -> Void) {
        self.core.uncaught.withLock { $0 = handler }
    }
}
