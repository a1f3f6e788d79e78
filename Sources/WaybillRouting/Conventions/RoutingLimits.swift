/// Upper bounds on URLs, patterns and tables.
///
/// Addresses come from outside the program, and patterns possibly do too. A limit turns a text that would
/// cost unbounded memory or time into an error that names the limit.
public struct RoutingLimits: Sendable, Hashable {
    /// The maximum length of a URL, in bytes of UTF-8; 8 KiB by default, and never more than 65,535.
    public var urlLength: Int
    /// The maximum number of segments of an address or a pattern; 128 by default.
    public var segments: Int
    /// The maximum number of parameters of one pattern; 64 by default.
    public var parameters: Int
    /// The maximum number of query items of a URL; 256 by default.
    public var queryItems: Int
    /// The maximum length of a pattern, in bytes of UTF-8; 1 KiB by default.
    public var patternLength: Int
    /// The maximum number of routes of a table; 1,000,000 by default.
    public var routes: Int
    /// Whether a pattern that comes from a peer may contain regular expressions; false by default.
    ///
    /// A peer's pattern belongs to a subscription over a socket, HTTP or the console, or to a route of
    /// another process of a cluster. A regular expression of a peer has at most 64 states. A regular
    /// expression in code has at most 512 states.
    public var allowsExpressionsOfPeers: Bool

    /// Creates limits.
    ///
    /// Omitted arguments have their defaults.
    public init(
        urlLength: Int = 8 * 1_024,
        segments: Int = 128,
        parameters: Int = 64,
        queryItems: Int = 256,
        patternLength: Int = 1_024,
        routes: Int = 1_000_000,
        allowsExpressionsOfPeers: Bool = false
    ) {
        self.urlLength = urlLength
        self.segments = segments
        self.parameters = parameters
        self.queryItems = queryItems
        self.patternLength = patternLength
        self.routes = routes
        self.allowsExpressionsOfPeers = allowsExpressionsOfPeers
    }

    /// The default limits.
    public static let `default` = Self()
}
