/// How large what is routed may be.
///
/// Addresses come from outside and patterns may; a limit turns a text that would cost memory or time without bound
/// into an error that names the limit.
public struct RoutingLimits: Sendable, Hashable {
    /// The longest URL, in bytes of UTF-8; 8 KiB by default, and never more than 65,535.
    public var urlLength: Int
    /// The most segments of an address or a pattern; 128 by default.
    public var segments: Int
    /// The most parameters that one pattern may name; 64 by default.
    public var parameters: Int
    /// The most query items of a URL; 256 by default.
    public var queryItems: Int
    /// The longest pattern, in bytes of UTF-8; 1 KiB by default.
    public var patternLength: Int
    /// The most routes of a table; 1,000,000 by default.
    public var routes: Int

    /// Makes limits; what is not named keeps its default.
    public init(
        urlLength: Int = 8 * 1_024,
        segments: Int = 128,
        parameters: Int = 64,
        queryItems: Int = 256,
        patternLength: Int = 1_024,
        routes: Int = 1_000_000
    ) {
        self.urlLength = urlLength
        self.segments = segments
        self.parameters = parameters
        self.queryItems = queryItems
        self.patternLength = patternLength
        self.routes = routes
    }

    /// The limits that hold unless others are given.
    public static let `default` = Self()
}
