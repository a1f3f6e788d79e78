/// How long to wait before the next attempt to connect: twice as long after each failure, up to a limit, and
/// a random part of that, so that the clients of a server that was restarted do not all come at once.
struct Backoff: Sendable {
    private let first: Duration
    private let limit: Duration
    private var failures = 0
    private var nextAttempt: ContinuousClock.Instant?

    init(first: Duration, limit: Duration) {
        self.first = first
        self.limit = limit
    }

    /// Notes an attempt that failed.
    ///
    /// - Parameters:
    ///   - now: The present instant.
    ///   - generator: Where the random part comes from.
    mutating func failed(at now: ContinuousClock.Instant, using generator: inout some RandomNumberGenerator) {
        let longest = min(self.limit, self.first * Double(1 << min(self.failures, 20)))
        self.failures += 1
        self.nextAttempt = now + longest * Double.random(in: 0.5...1, using: &generator)
    }

    /// Notes that the server has answered.
    mutating func succeeded() {
        self.failures = 0
        self.nextAttempt = nil
    }

    /// How long the next attempt has to wait; nil if it need not.
    func delay(at now: ContinuousClock.Instant) -> Duration? {
        guard let nextAttempt, nextAttempt > now else { return nil }
        return nextAttempt - now
    }
}
