public import WaybillRouting

/// The results of a module test case.
public struct ModuleTestReport: Sendable {
    /// A problem of a module.
    public struct Problem: Sendable, CustomStringConvertible {
        /// The pattern of the route; empty if it is about the whole scheme.
        public let route: String

        /// The URL that showed it; empty if none was forwarded.
        public let url: String

        /// A sentence that describes the problem.
        public let message: String

        /// The code of the error, if one showed it.
        public let code: RoutingError.Code?

        /// One readable line.
        public var description: String {
            let url = self.url.isEmpty ? "" : " at \(self.url.prefix(200))"
            return "\(self.route.isEmpty ? "the scheme" : self.route)\(url): \(self.message)"
        }
    }

    /// How long the right URLs of a route took.
    public struct Timing: Sendable {
        /// The pattern of the route.
        public let route: String

        /// How many URLs there were.
        public let count: Int

        /// How many of them were answered with a reply, and not with a failure of the handler's own.
        public let replies: Int

        /// The time that half of them took at the most.
        public let median: Duration

        /// The time of the slowest.
        public let maximum: Duration
    }

    /// The scheme.
    public let scheme: String

    /// The seed of the generated values.
    ///
    /// A test case with the same seed forwards the same URLs.
    public let seed: UInt64

    /// The problems; empty when the module passes.
    public internal(set) var problems: [Problem] = []

    /// The time of each route, in the order of the bus's routes.
    public internal(set) var timings: [Timing] = []

    /// How many URLs were forwarded, the wrong ones included.
    public internal(set) var forwarded = 0

    init(scheme: String, seed: UInt64) {
        self.scheme = scheme
        self.seed = seed
    }
}

extension ModuleTestReport: CustomStringConvertible {
    /// The problems, and a line of time for each route.
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
