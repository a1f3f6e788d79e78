public import Logging
internal import WaybillEventLoop
public import WaybillRouting

/// Code around every delivery, which can inspect, change, answer or refuse messages.
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
/// A middleware answers a message by returning a value, which may be the value of `next`. It refuses a
/// message by throwing an error, for example ``/WaybillRouting/RoutingError/refused(_:cause:)``, and changes
/// a message by passing a different message to `next`. However often a middleware calls `next`, the message
/// counts once in the statistics, with the outcome of the outermost middleware.
public protocol Middleware: Sendable {
    /// Answers a message, refuses it, or passes it to the following middlewares and the handler.
    ///
    /// The bus calls this method after it has found the handler and before the message enters a mailbox. The
    /// kind of message determines the task, the isolation, and when the caller resumes:
    ///
    /// - A message without a deadline to a handler that cannot suspend, and whose mailbox is not serial: the
    ///   method runs in the caller's task and isolation. The caller resumes when the method returns.
    /// - Any other message that a caller awaits: the method runs in its own task, on the caller's loop, or on
    ///   the handler's loop if the caller is not on a loop of the bus. The caller resumes immediately when
    ///   the caller is cancelled, the deadline passes, or the handler is unregistered.
    /// - A message that no caller awaits: the method runs in its own task, on the handler's loop, when it is
    ///   the message's turn in the mailbox.
    /// - A message that is read from a subscription's sequence: the method runs when the reader reads the
    ///   message, in the reader's task and isolation unless the message has a deadline. The reader receives
    ///   no message that the middleware refuses or answers.
    ///
    /// Declare the method `nonisolated(nonsending)`, as above, in a module without the upcoming feature
    /// `NonisolatedNonsendingByDefault`. Otherwise every message makes a detour through the global executor.
    /// While a middleware is suspended, later messages of the same sender can overtake the message.
    ///
    /// Only in its own task can the method send progress replies, and do messages that the method routes or
    /// sends inherit the deadline and the hop count of the message. These messages pass through middlewares
    /// too. Add a middleware that sends messages with a pattern that does not match their URLs, because the
    /// middleware may otherwise call itself endlessly.
    ///
    /// - Parameters:
    ///   - message: The message that the previous middleware has passed on.
    ///   - context: The matched pattern, and the bus's clock and logger.
    ///   - next: The following middlewares and the handler.
    /// - Returns: The reply's value.
    /// - Throws: The reason why the message fails. A `RoutingError` about this message or without a URL is
    ///   passed on. Any other error becomes the cause of a `handlerFailed` error.
    nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable

    /// Prepares a message that no caller awaits, before the message waits in its mailbox.
    ///
    /// ``handle(_:context:next:)`` runs later and in another task, without the sender's task-local values.
    /// This method runs on the sender's thread, and can write the sender's context into the headers of the
    /// message. Most middlewares do not need this method.
    ///
    /// - Parameter message: The message, with the changes of the previous middleware.
    /// - Returns: The message to send.
    func prepare(_ message: Message) -> Message
}

extension Middleware {
    /// Returns the message unchanged.
    public func prepare(_ message: Message) -> Message { message }
}

/// The context of a delivery: the matched pattern, and the bus's clock and logger.
///
/// The context cannot be copied or kept, because it is valid only during the delivery.
public struct MiddlewareContext: ~Copyable, Sendable {
    private let interception: Interception

    init(_ interception: Interception) { self.interception = interception }

    /// The pattern that the message has matched; nil when the message has no handler.
    ///
    /// A metric may have the pattern as a label, because the number of patterns is limited.
    public var pattern: String? { self.interception.target.pattern }

    /// Whether the message was published, so that its handler is a subscriber.
    package var isPublication: Bool { self.interception.target.handler?.isSubscriber == true }

    /// The current instant of the clock that measures the bus's deadlines, which a test may advance by hand.
    public var now: ContinuousClock.Instant { self.interception.core.time.instant }

    /// The logger of the bus.
    public var logger: Logger { self.interception.core.logger }

    /// Waits for a duration, measured by the bus's clock.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public nonisolated(nonsending) func sleep(for duration: Duration) async throws {
        let core = self.interception.core
        guard core.time.manual != nil else { return try await ContinuousClock().sleep(for: duration) }
        try await core.primaryShard.eventLoop.clock.sleep(for: duration)
    }
}

extension MessageBus {
    /// Adds a middleware that intercepts every message, after the existing middlewares.
    ///
    /// ```swift
    /// bus.use(LoggingMiddleware())
    /// ```
    ///
    /// The middleware intercepts all messages that are routed after this call: awaited, sent and published
    /// messages, and messages to return URLs. For a message whose URL no pattern matches, `next` fails with
    /// `noRoute`. A text that is not a URL reaches no middleware.
    ///
    /// If the middleware holds the bus, neither object is ever released.
    ///
    /// - Parameter middleware: The middleware.
    /// - Returns: A registration that can remove the middleware. Dropping the registration does not.
    @discardableResult
    @inlinable
    public func use(_ middleware: some Middleware) -> Registration {
        self.use(MiddlewareLink(middleware))
    }

    /// Adds a middleware that intercepts the messages to some URLs, after the existing middlewares.
    ///
    /// ```swift
    /// try bus.use(TimeoutMiddleware(.seconds(1)), for: "app://account/**")
    /// ```
    ///
    /// - Parameters:
    ///   - middleware: The middleware.
    ///   - pattern: A pattern as for a handler, which is compared with the URL of each message. For example,
    ///     `app://user/**` matches every URL that begins with `app://user/`.
    /// - Returns: A registration that can remove the middleware. Dropping the registration does not.
    /// - Throws: `invalidPattern`.
    @discardableResult
    @inlinable
    public func use(_ middleware: some Middleware, for pattern: String) throws(RoutingError) -> Registration {
        try self.use(MiddlewareLink(middleware), for: pattern)
    }

    @usableFromInline
    func use(_ middleware: MiddlewareLink) -> Registration { self.core.addMiddleware(middleware) }

    @usableFromInline
    func use(_ middleware: MiddlewareLink, for pattern: String) throws(RoutingError) -> Registration {
        let scope = try self.core.currentConfiguration.scope(of: pattern)
        return self.core.addMiddleware(middleware, scope: scope, pattern: pattern)
    }
}
