/// The limit on the rate of a peer's messages: a bucket that fills at a rate, and holds the tokens of one
/// second.
struct TokenBucket: Sendable {
    private let rate: Double
    private var tokens: Double
    private var filledAt: ContinuousClock.Instant

    init(perSecond rate: Int, at now: ContinuousClock.Instant) {
        self.rate = Double(max(1, rate))
        self.tokens = self.rate
        self.filledAt = now
    }

    /// Takes the tokens of messages that have been handled without waiting for them.
    mutating func charge(_ count: Int) { self.tokens -= Double(count) }

    /// Takes one token.
    ///
    /// - Parameter now: The present instant, which is evaluated only when the bucket is empty.
    /// - Returns: How long to wait before the next message is handled; nil if it may be handled now.
    mutating func take(at now: @autoclosure () -> ContinuousClock.Instant) -> Duration? {
        self.tokens -= 1
        if self.tokens >= 0 { return nil }
        let now = now()
        let elapsed = (now - self.filledAt) / .seconds(1)
        self.filledAt = now
        self.tokens = min(self.rate, self.tokens + elapsed * self.rate)
        return self.tokens >= 0 ? nil : .seconds(-self.tokens / self.rate)
    }
}
