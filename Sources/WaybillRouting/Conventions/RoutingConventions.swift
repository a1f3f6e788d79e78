/// The rules for reading addresses and matching patterns, as a set of independent choices.
///
/// A table is created with conventions and keeps these conventions. ``waybill`` is the default. The product
/// `WaybillCompatibility` contains the conventions of other routers, so that their users can keep their URLs.
public struct RoutingConventions: Sendable, Hashable {
    /// Whether schemes are compared without regard to case.
    public var schemeIgnoresCase = true
    /// Whether URLs of a scheme that is not registered are rejected.
    public var schemeMustBeRegistered = false
    /// The meaning of a URL or pattern without a scheme.
    public var missingScheme = MissingScheme.usesDefault
    /// The aliases of schemes.
    ///
    /// A key is an alias in lower case, and its value is the scheme that replaces the alias.
    public var schemeAliases: [String: String] = [:]
    /// The meaning of the host of a URL.
    public var host = Host.isFirstSegment
    /// The verbs that may be the first segment of a URL without being part of the path, such as `push`.
    ///
    /// The words are in lower case, and are compared without regard to case. ``Address/transition`` contains
    /// the verb of a URL.
    public var leadingVerbs: [String] = []
    /// Whether segments are compared without regard to case.
    public var segmentsIgnoreCase = false
    /// Whether path values are dropped unless the literal segments of the address have the same case as in
    /// the pattern.
    public var valuesNeedExactCase = false
    /// Whether `#` begins a fragment; otherwise it is ordinary text.
    public var hasFragment = true
    /// Whether a URL that is percent-encoded as a whole, including its `://`, is decoded first.
    ///
    /// The decoded URL must have a query, as in COCRouter.
    public var decodesWholeURL = false
    /// The placeholders that a pattern may have.
    public var placeholders = Placeholders.all
    /// Whether a placeholder that is a whole segment may match several segments.
    ///
    /// The placeholder matches as few segments as possible.
    public var placeholdersSpanSegments = false
    /// Whether spaces in a pattern are ignored.
    public var patternsIgnoreSpaces = false
    /// The meaning of `?k=v` in a pattern.
    public var patternQuery = PatternQuery.isText
    /// The rule that chooses between several patterns that match a URL.
    public var bestMatch = BestMatch.mostSpecific
    /// The effect of an insertion when the table has a pattern that matches the same URLs, for example `/:id`
    /// and `/:uid`.
    public var sameShape = SameShape.conflicts
    /// Whether the route of the longest registered prefix receives an address that matches no pattern.
    public var fallsBack = false
    /// The rule that chooses between query items with the same name.
    public var duplicateQueryNames = DuplicateQueryNames.lastWins
    /// Whether `?k` sets `k` to the empty value; otherwise the item is ignored.
    public var keepsQueryNamesWithoutValue = true
    /// The start of the value of a query item that contains more than one `=`.
    public var queryValues = QueryValues.beginBehindFirstEquals
    /// The rule that chooses between path and query when both have a value of the same name.
    ///
    /// A value that is passed with the call takes precedence over both.
    public var precedence = Precedence.pathBeforeQuery

    /// The conventions of Waybill, described in `Docs/Routing.md`.
    public static let waybill = Self()

    /// Creates the default conventions.
    ///
    /// Change them property by property.
    public init() {}
}

extension RoutingConventions {
    /// The meaning of a URL or pattern without a scheme.
    public enum MissingScheme: Sendable, Hashable {
        /// The URL or pattern has the default scheme.
        case usesDefault
        /// The URL or pattern is rejected.
        case isError
    }

    /// The meaning of the host of a URL.
    public enum Host: Sendable, Hashable {
        /// The host is the first segment: `app://user/detail` is `app:/user/detail`.
        case isFirstSegment
        /// The host is the first segment unless it contains a dot, as in `example.com`.
        case isFirstSegmentUnlessDotted
        /// The host is ignored.
        case isIgnored
    }

    /// The placeholders that a pattern may have.
    public enum Placeholders: Sendable, Hashable {
        /// All placeholders of the route language.
        case all
        /// Whole segments that begin with a colon.
        case colon
        /// `<name>`, with or without text around it.
        case angleBrackets
        /// No placeholders: every pattern is literal.
        case none
    }

    /// The meaning of `?k=v` in a pattern.
    public enum PatternQuery: Sendable, Hashable {
        /// The query is ordinary text and part of a segment.
        case isText
        /// The query is dropped from a pattern with placeholders. In a literal pattern it is text.
        case isIgnoredBesidePlaceholders
        /// The query is dropped.
        case isIgnored
    }

    /// The rule that chooses between several patterns that match a URL.
    public enum BestMatch: Sendable, Hashable {
        /// The most specific pattern.
        ///
        /// The search compares the patterns segment by segment, and tries less specific patterns when it
        /// fails (backtracking).
        case mostSpecific
        /// The pattern that a search without backtracking finds.
        ///
        /// At each segment, the search follows a literal segment if one matches.
        case literalWithoutBacktracking
        /// The pattern with the most literal segments.
        case mostLiteral
        /// The pattern that was registered first.
        case firstRegistered
    }

    /// The effect of an insertion when the table has a pattern that matches the same URLs, for example `/:id`
    /// and `/:uid`.
    public enum SameShape: Sendable, Hashable {
        /// The insertion fails with a conflict that names the existing pattern.
        case conflicts
        /// The new pattern replaces the existing pattern.
        case replaces
    }

    /// The rule that chooses between query items with the same name.
    public enum DuplicateQueryNames: Sendable, Hashable {
        /// The last item is used.
        case lastWins
        /// The first item is used.
        case firstWins
    }

    /// The start of the value of a query item that contains more than one `=`.
    public enum QueryValues: Sendable, Hashable {
        /// The value begins after the first `=`.
        case beginBehindFirstEquals
        /// The value begins after the last `=`.
        case beginBehindLastEquals
    }

    /// The rule that chooses between path and query when both have a value of the same name.
    public enum Precedence: Sendable, Hashable {
        /// The value of the path is used.
        case pathBeforeQuery
        /// The value of the query is used.
        case queryBeforePath
    }
}

extension RoutingConventions {
    /// Returns the scheme in the form that tables compare: with its case folded and its alias replaced, if
    /// the conventions require this.
    package func folded(scheme: String) -> String {
        let folded = self.schemeIgnoresCase ? scheme.lowercased() : scheme
        return self.schemeAliases[folded] ?? folded
    }
}
