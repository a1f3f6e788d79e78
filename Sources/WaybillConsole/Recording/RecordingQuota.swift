#if HTTP
/// The limits of a recording.
struct RecordingLimits: Sendable {
    /// The approximate number of bytes that flows may occupy.
    var bytes = 24 << 20
    /// The number of flows of each route that are recorded per second, independently of other routes.
    var flowsPerRoute = 20.0
    /// The number of additional flows of all routes together that are recorded per second.
    var spareFlows = 400.0
    /// The maximum number of messages per second that are recorded because a recorded message caused them.
    var followers = 2000.0
    /// The maximum number of events in a flow.
    var eventsPerFlow = 500
}

/// A limit on a rate.
///
/// The bucket fills with tokens at this rate, and holds at most the tokens of one second.
struct TokenBucket: Sendable {
    private let rate: Double
    private var tokens: Double
    private var time: Double

    init(rate: Double, at time: Double) {
        self.rate = rate
        self.tokens = rate
        self.time = time
    }

    /// Takes a token; returns false if the bucket is empty.
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
