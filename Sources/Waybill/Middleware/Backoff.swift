/// How long to wait before something is tried again: longer each time, up to a limit, and not all at the same moment.
public struct Backoff: Sendable {
    /// The wait after the first attempt.
    public var first: Duration

    /// What each wait is multiplied with for the next.
    public var factor: Double

    /// The longest wait.
    public var longest: Duration

    /// The part of a wait that is left to chance, from 0 to 1, so that those who failed together do not come back together.
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

    /// In nanoseconds: longer than anybody waits, and a number that an instant still has room for.
    private static let century = 3.2e18

    private static func power(_ factor: Double, _ exponent: Int) -> Double {
        (0..<exponent).reduce(1) { product, _ in product * factor }
    }
}
