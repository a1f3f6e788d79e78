extension RoutingConventions {
    /// What a URL or pattern without a scheme means.
    public enum MissingScheme: Sendable, Hashable {
        /// It has the default scheme.
        case usesDefault
        /// It is an error.
        case isError
    }

    /// What the host of a URL means.
    public enum Host: Sendable, Hashable {
        /// It is the first segment: `app://user/detail` is `app:/user/detail`.
        case isFirstSegment
        /// It is the first segment unless there is a dot in it, as in `example.com`.
        case isFirstSegmentUnlessDotted
        /// It plays no part.
        case isIgnored
    }

    /// Which placeholders a pattern may have.
    public enum Placeholders: Sendable, Hashable {
        /// All of the route language.
        case all
        /// Whole segments that begin with a colon.
        case colon
        /// `<name>`, with or without text around it.
        case angleBrackets
        /// None: every pattern is literal.
        case none
    }

    /// What `?k=v` in a pattern means.
    public enum PatternQuery: Sendable, Hashable {
        /// It is text like any other and so part of a segment.
        case isText
        /// In a pattern with placeholders it is left out; in a literal pattern it is text.
        case isIgnoredBesidePlaceholders
        /// It is left out.
        case isIgnored
    }

    /// Which pattern wins when several match.
    public enum BestMatch: Sendable, Hashable {
        /// The most specific one, decided segment by segment, with backtracking.
        case mostSpecific
        /// The one that is reached by taking a literal wherever there is one, without backtracking.
        case literalWithoutBacktracking
        /// The one with the most literal segments.
        case mostLiteral
        /// The one that was registered first.
        case firstRegistered
    }

    /// What happens when a pattern of the same shape is there already.
    public enum SameShape: Sendable, Hashable {
        /// The insertion fails and names the rival.
        case conflicts
        /// The new pattern takes the place of the old one.
        case replaces
    }

    /// Which of several query items with one name counts.
    public enum DuplicateQueryNames: Sendable, Hashable {
        /// The last one.
        case lastWins
        /// The first one.
        case firstWins
    }

    /// Where the value of a query item begins, if there is more than one `=`.
    public enum QueryValues: Sendable, Hashable {
        /// Behind the first one.
        case beginBehindFirstEquals
        /// Behind the last one.
        case beginBehindLastEquals
    }

    /// Who wins when path and query carry the same name.
    public enum Precedence: Sendable, Hashable {
        /// The path.
        case pathBeforeQuery
        /// The query.
        case queryBeforePath
    }
}
