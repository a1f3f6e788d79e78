/// Why a URL leads where it does, or nowhere.
public struct Explanation: Sendable {
    /// A parameter whose value is not of its type.
    public struct Failure: Sendable, Hashable {
        /// The name of the parameter.
        public let name: String
        /// The type as patterns spell it.
        public let type: String
        /// The text that is not of the type.
        public let text: String
        /// The pattern that would have matched otherwise.
        public let pattern: String
        /// One sentence that says it: `uid` is not an int: abc.
        public let message: String
    }

    /// The URL that was asked about.
    public let url: String
    /// The route that matches, if one does.
    public let route: Route?
    /// What the URL says to the route, or what can be said without one.
    public let parameters: Parameters?
    /// The error of a URL that leads nowhere.
    public let error: RoutingError?
    /// The first segment that no pattern goes on with, counted from 0; nil when all segments are known.
    public let stoppedAt: Int?
    /// The parameter that had the wrong type, if that is all that was wrong.
    public let failure: Failure?
    /// The patterns nearest to the URL, nearest first.
    public let nearest: [String]
    /// What was tried, in order, one readable line each.
    public let trace: [String]
}
