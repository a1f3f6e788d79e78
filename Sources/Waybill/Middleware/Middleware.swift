public import Logging
internal import WaybillEventLoop
public import WaybillRouting

/// Code around every delivery: it looks at a message, calls the rest, and looks at what came back.
///
/// ```swift
/// struct Stopwatch: Middleware {
///     nonisolated(nonsending) func handle(
///         _ message: Message,
///         context: borrowing MiddlewareContext,
///         next: borrowing Next
///     ) async throws -> any Sendable {
///         let start = ContinuousClock.now
///         defer { print(message.address, ContinuousClock.now - start) }
///         return try await next(message)
///     }
/// }
///
/// bus.use(Stopwatch())
/// ```
///
/// A middleware answers by returning, with what the rest returned or with a value of its own. It refuses by
/// throwing, for example ``WaybillRouting/RoutingError/refused(_:cause:)``. It changes a message by passing
/// another one on. However often it calls the rest, the message counts once in the statistics, with the
/// outcome that the outermost middleware returns or throws.
public protocol Middleware: Sendable {
    /// Handles a message: answers it, refuses it, or has the rest answer it.
    ///
    /// It runs after the handler was found and before the message gets into a mailbox. Task, isolation, and
    /// when the caller is free depend on the message:
    ///
    /// - To a handler that answers at once, without a deadline: in the caller's task, where the caller is
    ///   isolated. The caller is free when this returns.
    /// - To a handler that may suspend, or with a deadline: in a task of its own, on the caller's loop, or on
    ///   the handler's loop if the caller is on none of the bus. The caller is free at once when it is
    ///   cancelled, the deadline passes, or the handler is unregistered.
    /// - That no caller awaits: in a task of its own, on the handler's loop, when its turn comes in the
    ///   mailbox.
    /// - That is read from a subscription's sequence: in the reader's task, where the reader is isolated,
    ///   when it is read.
    ///
    /// A message that is refused or answered on its way to a reader is not seen by the reader.
    ///
    /// A conformance in a module that does not have the upcoming feature `NonisolatedNonsendingByDefault`
    /// should say `nonisolated(nonsending)`, as above, or every message makes a detour through the global
    /// executor. One that suspends lets later messages of the same sender overtake.
    ///
    /// What it routes or sends itself inherits the message's deadline and hops where it runs in a task of its
    /// own, and only there can it reply in advance. It passes through middlewares too: use one that routes
    /// for a pattern that leaves those URLs out, or it may call itself for ever.
    ///
    /// - Parameters:
    ///   - message: the message, as the middleware before this one has passed it on.
    ///   - context: the route that it leads to, and the bus's clock and logger.
    ///   - next: the rest: the middlewares after this one, and the handler. Each call is an attempt to
    ///     deliver.
    /// - Returns: the reply's value.
    /// - Throws: the reason that there is none. A `RoutingError` about this message, or about no URL, passes
    ///   as it is; anything else becomes `handlerFailed`, with the error as its cause.
    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable

    /// Looks at a message that no caller awaits when it is sent, before it waits in its mailbox.
    ///
    /// ``handle(_:context:next:)`` runs later and elsewhere, without the sender's task-local values: this is
    /// the place to write the sender's context into the headers. It runs on the sender's thread, and most
    /// middlewares do not need it.
    ///
    /// - Parameter message: the message, as the middleware before this one has changed it.
    /// - Returns: what is sent.
    func prepare(_ message: Message) -> Message
}

extension Middleware {
    /// Changes nothing.
    public func prepare(_ message: Message) -> Message { message }
}

/// What a middleware may know of a delivery beside the message: the route that it leads to, and the bus's
/// clock and logger.
///
/// It cannot be copied or kept: it ends with the delivery.
public struct MiddlewareContext: ~Copyable, Sendable {
    private let interception: Interception

    init(_ interception: Interception) { self.interception = interception }

    /// The pattern that the message has matched; nil if there is none, and so no handler.
    ///
    /// There are as many patterns as there are routes, so a measurement may be split by it.
    public var pattern: String? { self.interception.target.pattern }

    /// The present instant, as the deadlines of the bus go by it: in a test that advances the time by hand,
    /// its time.
    public var now: ContinuousClock.Instant { self.interception.core.time.instant }

    /// Where the bus logs.
    public var logger: Logger { self.interception.core.logger }

    /// Waits, by the bus's clock.
    ///
    /// - Parameter duration: How long.
    /// - Throws: `CancellationError` if the task is cancelled.
    public nonisolated(nonsending) func sleep(for duration: Duration) async throws {
        let core = self.interception.core
        guard core.time.manual != nil else { return try await ContinuousClock().sleep(for: duration) }
        try await core.primaryShard.eventLoop.clock.sleep(for: duration)
    }
}

extension MessageBus {
    /// Puts a middleware around every delivery, inside of the present ones.
    ///
    /// ```swift
    /// bus.use(LoggingMiddleware())
    /// ```
    ///
    /// Messages that are routed afterwards meet it: those that are awaited, sent, published, and return legs.
    /// So does a message whose URL no pattern matches; its rest fails with `noRoute`. Text that is no URL
    /// meets none.
    ///
    /// The bus holds a middleware until it is cancelled or the bus is released; one that holds the bus keeps
    /// both for good.
    ///
    /// - Returns: what removes it; it stays if this is dropped.
    @discardableResult
    @inlinable
    public func use(_ middleware: some Middleware) -> Registration {
        self.use(MiddlewareCode(middleware))
    }

    /// Puts a middleware around the delivery of messages to some URLs, inside of the present ones.
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
    /// - Returns: what removes it; it stays if this is dropped.
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
        self.core.intercept(pattern: nil) { $0.add(middleware, scope: nil) }
    }

    @usableFromInline
    func use(_ middleware: MiddlewareCode, for pattern: String) throws(RoutingError) -> Registration {
        let scope = try self.core.currentConfiguration.scope(of: pattern)
        return self.core.intercept(pattern: pattern) { $0.add(middleware, scope: scope) }
    }
}
