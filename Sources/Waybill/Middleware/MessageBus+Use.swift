public import WaybillRouting

extension MessageBus {
    /// Puts a middleware around every delivery, inside of those that are there.
    ///
    /// ```swift
    /// bus.use(LoggingMiddleware(logger: logger))
    /// ```
    ///
    /// Messages that are routed afterwards meet it: those that are awaited, sent, published, and return legs. So does a
    /// message whose URL no pattern matches; its rest fails with `noRoute`. Only text that is no URL is seen by nobody.
    ///
    /// The bus holds a middleware until it is cancelled or the bus goes away; one that holds the bus keeps both for good.
    ///
    /// - Returns: what takes it out again; it stays if this is dropped.
    @discardableResult
    @inlinable
    public func use(_ middleware: some Middleware) -> Registration {
        self.use(MiddlewareCode(middleware))
    }

    /// Puts a middleware around the delivery of messages to some URLs, inside of those that are there.
    ///
    /// ```swift
    /// try bus.use(TimeoutMiddleware(.seconds(1)), for: "app://account/**")
    /// ```
    ///
    /// It is the message's URL that is matched, for each message, and not the pattern of its handler.
    ///
    /// - Parameters:
    ///   - middleware: what is around them.
    ///   - pattern: a pattern as handlers have it: `app://user/**` is everything below `app://user`.
    /// - Returns: what takes it out again; it stays if this is dropped.
    /// - Throws: `invalidPattern`.
    @discardableResult
    @inlinable
    public func use(
        _ middleware: some Middleware,
        for pattern: String
    ) throws(RoutingError) -> Registration {
        try self.use(MiddlewareCode(middleware), for: pattern)
    }

    @usableFromInline
    func use(_ middleware: MiddlewareCode) -> Registration {
        self.core.surround(pattern: nil) { $0.add(middleware, scope: nil) }
    }

    @usableFromInline
    func use(_ middleware: MiddlewareCode, for pattern: String) throws(RoutingError) -> Registration {
        let scope = try self.core.configuration.scope(of: pattern)
        return self.core.surround(pattern: pattern) { $0.add(middleware, scope: scope) }
    }
}
