public import WaybillRouting

/// Delivers a message again when it failed for a reason that may pass.
///
/// ```swift
/// bus.use(try RetryMiddleware(idempotent: ["app://account/balance", "app://catalog/**"], attempts: 4))
/// ```
///
/// Only routes that were declared idempotent are tried again: a handler that failed may have done half of its
/// work. Between attempts it waits, longer each time; it does not wait past the deadline, and gives up with
/// the failure that it has. However many attempts there are, the message counts once in the statistics.
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

/// How long to wait before something is tried again: longer each time, up to a limit, and not all at the same
/// moment.
public struct Backoff: Sendable {
    /// The wait after the first attempt.
    public var first: Duration

    /// What each wait is multiplied with for the next.
    public var factor: Double

    /// The longest wait.
    public var longest: Duration

    /// The part of a wait that is left to chance, from 0 to 1, so that messages that failed together are not
    /// retried together.
    public var jitter: Double

    /// Makes a backoff; everything has a default.
    public init(
        first: Duration = .milliseconds(50),
        factor: Double = 2,
        longest: Duration = .seconds(5),
        jitter: Double = 0.5
    ) {
        self.first = first
        self.factor = factor
        self.longest = longest
        self.jitter = jitter
    }

    /// How long to wait after some attempts, of which there is at least one.
    public func delay(after attempts: Int) -> Duration {
        let first = self.first / .nanoseconds(1)
        // Nothing stays nothing, even if the factor has grown beyond all numbers.
        let grown = first == 0 ? 0 : first * Self.power(self.factor, max(1, attempts) - 1)
        let longest = min(grown, self.longest / .nanoseconds(1), Self.century)
        let jitter = Double.random(in: 0...1) * min(max(self.jitter, 0), 1)
        let delay = longest * (1 - jitter)
        return .nanoseconds(delay > 0 ? Int64(delay) : 0)
    }

    /// In nanoseconds: longer than any caller waits, and a number that an instant still has room for.
    private static let century = 3.2e18

    private static func power(_ factor: Double, _ exponent: Int) -> Double {
        (0..<exponent).reduce(1) { product, _ in product * factor }
    }
}
