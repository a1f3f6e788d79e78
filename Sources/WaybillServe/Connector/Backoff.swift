/// The delay before the next attempt to connect.
///
/// The delay doubles after each failure, up to a limit. A random part is subtracted from each delay, so that
/// the clients of a restarted server do not all connect at the same time.
struct Backoff: Sendable {
    private let first: Duration
    private let limit: Duration
    private var failures = 0
    private var nextAttempt: ContinuousClock.Instant?

    init(first: Duration, limit: Duration) {
        self.first = first
        self.limit = limit
    }

    /// Records the end of a connection.
    ///
    /// A connection that was shorter than the longest delay, or than two seconds, counts as a failed attempt.
    /// Otherwise a server that closes each connection at once, for example because it has too many, would be
    /// asked without end.
    mutating func ended(after lifetime: Duration, at now: ContinuousClock.Instant) {
        if lifetime < min(self.limit, .seconds(2)) {
            self.failed(at: now)
        } else {
            (self.failures, self.nextAttempt) = (0, nil)
        }
    }

    /// Records an attempt that failed.
    ///
    /// The next attempt waits for the given share of the full delay.
    mutating func failed(at now: ContinuousClock.Instant, share: Double = .random(in: 0.5...1)) {
        let longest = min(self.limit, self.first * Double(1 << min(self.failures, 20)))
        self.failures += 1
        self.nextAttempt = now + longest * share
    }

    /// Returns the time that the next attempt has to wait; nil if the attempt may start now.
    func delay(at now: ContinuousClock.Instant) -> Duration? {
        guard let nextAttempt, nextAttempt > now else { return nil }
        return nextAttempt - now
    }
}
