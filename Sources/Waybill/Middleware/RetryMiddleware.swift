public import WaybillRouting

/// A middleware that retries a delivery after a transient failure.
///
/// ```swift
/// bus.use(try RetryMiddleware(idempotent: ["app://account/balance", "app://catalog/**"], attempts: 4))
/// ```
///
/// Only URLs that the program declares idempotent are retried, because a failed handler may have done half of
/// its work. If the next wait would end after the deadline, the middleware throws the last failure.
public struct RetryMiddleware: Middleware {
    private let idempotent: RouteTable<Void>
    private let attempts: Int
    private let backoff: Backoff
    private let codes: Set<RoutingError.Code>
    private let clock: (any Clock<Duration>)?

    /// The failures that may be transient: `unreachable`, `mailboxFull`, and `handlerFailed`.
    public static let passingReasons: Set<RoutingError.Code> = [.unreachable, .mailboxFull, .handlerFailed]

    /// Creates a middleware that retries deliveries.
    ///
    /// - Parameters:
    ///   - idempotent: The patterns of the URLs that may be delivered more than once.
    ///   - attempts: The maximum number of attempts, including the first.
    ///   - backoff: The waits between attempts.
    ///   - codes: The failures that are retried.
    ///   - clock: The clock that measures the waits, or nil for the bus's clock.
    ///   - conventions: The conventions of the bus.
    ///   - defaultScheme: The default scheme of the bus.
    ///   - limits: The limits of the bus. A URL beyond the limits is not retried.
    /// - Throws: `invalidPattern`, or `conflict` if two patterns match the same URLs.
    public init(
        idempotent: [String],
        attempts: Int = 3,
        backoff: Backoff = Backoff(),
        codes: Set<RoutingError.Code> = Self.passingReasons,
        clock: (any Clock<Duration>)? = nil,
        conventions: RoutingConventions = .waybill,
        defaultScheme: String = "app",
        limits: RoutingLimits = .default
    ) throws(RoutingError) {
        var table = RouteTable<Void>(conventions: conventions, defaultScheme: defaultScheme, limits: limits)
        for pattern in idempotent { try table.insert(pattern, ()) }
        self.idempotent = table
        self.attempts = attempts
        self.backoff = backoff
        self.codes = codes
        self.clock = clock
    }

    /// Delivers a message, and delivers the message again after a transient failure.
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

/// The waits between attempts, which grow up to a limit and are partly random.
public struct Backoff: Sendable {
    /// The wait after the first attempt.
    public var first: Duration

    /// The factor by which each wait is multiplied to get the next wait.
    public var factor: Double

    /// The longest wait.
    public var longest: Duration

    /// The random part of a wait, from 0 to 1, so that messages that failed together are not retried
    /// together.
    public var jitter: Double

    /// Creates a backoff.
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

    /// Returns the wait after the given number of attempts, which is at least one.
    public func delay(after attempts: Int) -> Duration {
        let first = self.first / .nanoseconds(1)
        // A first wait of 0 stays 0, even if the power of the factor is infinite.
        let grown = first == 0 ? 0 : first * Self.power(self.factor, max(1, attempts) - 1)
        // A century in nanoseconds is a limit that can be added to an instant without overflow.
        let longest = min(grown, self.longest / .nanoseconds(1), 3.2e18)
        let jitter = Double.random(in: 0...1) * min(max(self.jitter, 0), 1)
        let delay = longest * (1 - jitter)
        return .nanoseconds(delay > 0 ? Int64(delay) : 0)
    }

    private static func power(_ factor: Double, _ exponent: Int) -> Double {
        // The file of a durable store can contain any number of attempts, so square the factor.
        var (product, square, rest) = (1.0, factor, exponent)
        while rest > 0 {
            if rest % 2 == 1 { product *= square }
            (square, rest) = (square * square, rest / 2)
        }
        return product
    }
}
