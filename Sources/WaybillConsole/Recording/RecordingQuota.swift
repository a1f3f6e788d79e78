#if HTTP
/// How much is recorded.
struct RecordingLimits: Sendable {
    /// About how many bytes flows may occupy.
    var bytes = 24 << 20
    /// How many flows of each route are recorded in a second, whatever the other routes do.
    var flowsPerRoute = 20.0
    /// How many more are, of all routes together.
    var spareFlows = 400.0
    /// How many messages are recorded in a second that others lead to.
    var followers = 2000.0
    /// How many events a flow may have.
    var eventsPerFlow = 500
}

/// So many a second, and no more at once.
struct TokenBucket: Sendable {
    private let rate: Double
    private var tokens: Double
    private var time: Double

    init(rate: Double, at time: Double) {
        self.rate = rate
        self.tokens = rate
        self.time = time
    }

    /// Takes a token; false if there is none.
    mutating func take(at time: Double) -> Bool {
        if time > self.time {
            self.tokens = min(self.rate, self.tokens + (time - self.time) * self.rate)
            self.time = time
        }
        guard self.tokens >= 1 else { return false }
        self.tokens -= 1
        return true
    }
}
#endif
