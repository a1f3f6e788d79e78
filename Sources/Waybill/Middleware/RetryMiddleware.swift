public import WaybillRouting

/// Delivers a message again when it failed for a reason that may pass.
///
/// ```swift
/// bus.use(try RetryMiddleware(idempotent: ["app://account/balance", "app://catalog/**"], attempts: 4))
/// ```
///
/// Only routes that were declared idempotent are tried again: nobody can know whether a handler that failed has done half of its
/// work. Between attempts it waits, longer each time; it does not wait past the deadline, and gives up with the failure
/// that it has. However many attempts there are, the message is one in the books.
public struct RetryMiddleware: Middleware {
    private let idempotent: RouteTable<Void>
    private let attempts: Int
    private let backoff: Backoff
    private let codes: Set<RoutingError.Code>
    private let clock: (any Clock<Duration>)?

    /// The reasons that may pass: `unreachable`, `mailboxFull`, and `handlerFailed`.
    public static let passingReasons: Set<RoutingError.Code> = [.unreachable, .mailboxFull, .handlerFailed]

    /// Makes a middleware that tries again.
    ///
    /// - Parameters:
    ///   - idempotent: the patterns of the URLs for which a second delivery does no harm.
    ///   - attempts: how many deliveries at the most, the first included.
    ///   - backoff: how long to wait in between.
    ///   - codes: the failures that are worth another attempt.
    ///   - clock: what the waiting is measured with; nil for the time that the bus goes by.
    ///   - conventions: how the bus reads URLs, if it was configured otherwise than by default.
    ///   - defaultScheme: the scheme of a URL that has none, as the bus was configured.
    /// - Throws: `invalidPattern`, or `conflict` if two patterns match the same URLs.
    public init(
        idempotent: [String],
        attempts: Int = 3,
        backoff: Backoff = Backoff(),
        codes: Set<RoutingError.Code> = Self.passingReasons,
        clock: (any Clock<Duration>)? = nil,
        conventions: RoutingConventions = .waybill,
        defaultScheme: String = "app"
    ) throws(RoutingError) {
        var table = RouteTable<Void>(conventions: conventions, defaultScheme: defaultScheme)
        for pattern in idempotent { try table.insert(pattern, ()) }
        self.idempotent = table
        self.attempts = attempts
        self.backoff = backoff
        self.codes = codes
        self.clock = clock
    }

    /// Delivers a message, and again if that may help.
    public nonisolated(nonsending) func handle(
        _ message: Message,
        context: borrowing MiddlewareContext,
        next: borrowing Next
    ) async throws -> any Sendable {
        guard self.attempts > 1, self.idempotent.canRoute(message.parameters.url) else {
            return try await next(message)
        }
        var attempt = 1
        while true {
            do throws(RoutingError) {
                return try await next.attempt(message)
            } catch {
                guard attempt < self.attempts, self.codes.contains(error.code) else { throw error }
                let delay = self.backoff.delay(after: attempt)
                if let deadline = message.deadline, context.now + delay >= deadline { throw error }
                if let clock = self.clock {
                    try await clock.sleep(for: delay)
                } else {
                    try await context.sleep(for: delay)
                }
            }
            attempt += 1
        }
    }
}
