/// The limit on the rate of a peer's messages, as a token bucket.
///
/// The bucket fills at the allowed rate, and holds at most the tokens of one second. Each message takes one
/// token. To save time, the bucket reads the clock only when it is empty. A burst after a pause can therefore
/// take the tokens of two seconds.
struct TokenBucket: Sendable {
    private let rate: Double
    private var tokens: Double
    private var filledAt: ContinuousClock.Instant

    init(perSecond rate: Int, at now: ContinuousClock.Instant) {
        self.rate = Double(max(1, rate))
        self.tokens = self.rate
        self.filledAt = now
    }

    /// Takes tokens for messages that are handled without calling ``take(at:)``.
    ///
    /// The number of tokens may become negative, which delays later messages.
    mutating func charge(_ count: Int) { self.tokens -= Double(count) }

    /// Takes one token.
    ///
    /// - Parameter now: The current instant, which is evaluated only when the bucket is empty.
    /// - Returns: The time to wait before the next message is handled; nil if it may be handled now.
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
