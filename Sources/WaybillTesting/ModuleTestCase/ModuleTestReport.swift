public import WaybillRouting

/// The result of a module test case.
public struct ModuleTestReport: Sendable {
    /// A problem that the test case found.
    public struct Problem: Sendable, CustomStringConvertible {
        /// The pattern of the route; empty if the problem concerns the whole scheme.
        public let route: String

        /// The URL that caused the problem; empty if the problem was found without a call.
        public let url: String

        /// A description of the problem in one sentence.
        public let message: String

        /// The code of the error; nil if the problem was found without an error.
        public let code: RoutingError.Code?

        /// One readable line with the route, the URL and the message.
        public var description: String {
            let url = self.url.isEmpty ? "" : " at \(self.url.prefix(200))"
            return "\(self.route.isEmpty ? "the scheme" : self.route)\(url): \(self.message)"
        }
    }

    /// The times that a route needed for its correct URLs.
    public struct Timing: Sendable {
        /// The pattern of the route.
        public let route: String

        /// The number of URLs with which the test case called the route.
        public let count: Int

        /// The number of URLs that received a reply and did not fail.
        public let replies: Int

        /// The median of the times.
        public let median: Duration

        /// The longest time.
        public let maximum: Duration
    }

    /// The scheme of the tested module.
    public let scheme: String

    /// The seed of the generated values.
    ///
    /// A test case with the same seed calls the routes with the same URLs. If an earlier route fails at
    /// another URL than before, later routes get other URLs.
    public let seed: UInt64

    /// The problems that were found; empty for a test case that succeeded.
    public internal(set) var problems: [Problem] = []

    /// The times of each route, in the order of the bus's routes.
    public internal(set) var timings: [Timing] = []

    /// The number of URLs with which the test case called routes, including the wrong URLs.
    public internal(set) var forwarded = 0

    init(scheme: String, seed: UInt64) {
        self.scheme = scheme
        self.seed = seed
    }
}

extension ModuleTestReport: CustomStringConvertible {
    /// The problems, and then one line with the times of each route.
    public var description: String {
        var lines = [
            "module test case `\(self.scheme)`: \(Self.count(self.problems.count, "problem")), "
                + "\(Self.count(self.timings.count, "route")), \(Self.count(self.forwarded, "URL")), seed \(self.seed)"
        ]
        lines += self.problems.map { "  problem: \($0)" }
        lines += self.timings.map {
            "  \($0.route): median \($0.median), max \($0.maximum), \($0.replies) of \($0.count) replied"
        }
        return lines.joined(separator: "\n")
    }

    private static func count(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }
}
