/// The faults that a simulation injects, each with its probability.
///
/// Faults meet only messages whose caller awaits the reply. A message that a module sends to another module
/// of its process is neither lost nor reordered, as the bus guarantees.
public struct Faults: Sendable {
    /// The delay of messages and replies.
    public struct Delay: Sendable {
        let limit: Duration
        let odds: Double

        /// No message is delayed.
        public static let none = Self(limit: .zero, odds: 0)

        /// Some messages are delayed.
        ///
        /// - Parameters:
        ///   - limit: The longest delay. Short delays are as likely as long ones: each delay is the limit
        ///     divided by a random power of two.
        ///   - odds: The probability that a message is delayed, from 0 to 1.
        /// - Returns: The description of the delay.
        public static func upTo(_ limit: Duration, odds: Double = 0.1) -> Self {
            Self(limit: limit, odds: odds)
        }
    }

    /// The rate at which a fault of a node happens.
    public struct Rate: Sendable {
        /// The expected number of times that the fault happens to each node in one hour of simulated time.
        let perHour: Double

        /// The fault does not happen.
        public static let never = Self(perHour: 0)

        /// The fault happens to each node at random times, while time passes.
        ///
        /// If the time jumps to the next timer, the fault happens at most once, after the jump.
        ///
        /// - Parameter count: The expected number of times in one hour of simulated time.
        /// - Returns: The rate.
        public static func perHour(_ count: Double) -> Self { Self(perHour: count) }
    }

    /// The delay of messages and replies.
    public var delay: Delay

    /// The probability that a message fails with `unreachable`, from 0 to 1.
    ///
    /// Half of the messages that fail have been handled: only their reply is lost.
    public var failure: Double

    /// The probability that an attempt to handle a message of a durable store is repeated, from 0 to 1.
    ///
    /// The handler has returned, and the outcome is lost before the store has written it, as when the process
    /// ends at that moment. A message that its handler has completed with `message.complete` is not repeated.
    /// No other way of the library delivers a message twice by itself.
    public var duplication: Double

    /// The probability that the caller of a message to another node is cancelled, from 0 to 1.
    ///
    /// The caller fails with `cancelled`, and the task of the handler is cancelled, up to eight seconds after
    /// the request was sent.
    public var cancellation: Double

    /// The rate at which the connections of other nodes and clients to a node end.
    ///
    /// The callers of the node's unanswered requests fail with `unreachable`, and the handlers of these
    /// requests are cancelled. The node continues to run, and the next request opens a new connection.
    public var disconnection: Rate

    /// The rate at which nodes crash.
    ///
    /// A node that has crashed starts again up to ten seconds later.
    public var crash: Rate

    /// The rate at which nodes lose power.
    ///
    /// A node ends as by a crash, and the files of its durable stores may lose writes that were not
    /// synchronized. The power fails between two operations on a file, also in the middle of a commit.
    public var powerLoss: Rate

    /// Creates a description of faults; without arguments there are none.
    public init(
        delay: Delay = .none,
        failure: Double = 0,
        duplication: Double = 0,
        cancellation: Double = 0,
        disconnection: Rate = .never,
        crash: Rate = .never,
        powerLoss: Rate = .never
    ) {
        self.delay = delay
        self.failure = failure
        self.duplication = duplication
        self.cancellation = cancellation
        self.disconnection = disconnection
        self.crash = crash
        self.powerLoss = powerLoss
    }

    /// No faults: the simulation changes only the order of the work.
    public static let none = Self()
}

// The faults as text.
extension Faults {
    /// The expression that creates these faults, for a person who repeats a failure; nil for no faults.
    var source: String? {
        var arguments: [String] = []
        if self.delay.odds > 0 {
            let odds = self.delay.odds == 0.1 ? "" : ", odds: \(self.delay.odds)"
            arguments.append("delay: .upTo(\(self.delay.limit.source)\(odds))")
        }
        let odds = [
            ("failure", self.failure), ("duplication", self.duplication), ("cancellation", self.cancellation),
        ]
        let rates = [
            ("disconnection", self.disconnection), ("crash", self.crash), ("powerLoss", self.powerLoss),
        ]
        arguments += odds.filter { $0.1 > 0 }.map { "\($0): \($1)" }
        arguments += rates.filter { $0.1.perHour > 0 }.map { "\($0): .perHour(\($1.perHour))" }
        return arguments.isEmpty ? nil : "Faults(\(arguments.joined(separator: ", ")))"
    }
}

extension Duration {
    /// The expression that creates this duration, in whole units.
    var source: String {
        let nanoseconds = self.nanoseconds
        let units: [(name: String, size: Int128)] = [
            ("seconds", 1_000_000_000), ("milliseconds", 1_000_000), ("microseconds", 1_000),
        ]
        for unit in units where nanoseconds % unit.size == 0 {
            return ".\(unit.name)(\(nanoseconds / unit.size))"
        }
        return ".nanoseconds(\(nanoseconds))"
    }
}
