/// The rules for reading addresses and matching patterns, as a set of independent choices.
///
/// A table is created with conventions and keeps them. ``waybill`` is the default. The product
/// `WaybillCompatibility` contains the conventions of other routers, so that their users can keep their URLs.
public struct RoutingConventions: Sendable, Hashable {
    /// Whether schemes are compared without case.
    public var schemeIgnoresCase = true
    /// Whether URLs of a scheme that is not registered are rejected.
    public var schemeMustBeRegistered = false
    /// The meaning of a URL or pattern without a scheme.
    public var missingScheme = MissingScheme.usesDefault
    /// The aliases of schemes: the key is the alias in lower case, and the value is the scheme that replaces
    /// it.
    public var schemeAliases: [String: String] = [:]
    /// The meaning of the host of a URL.
    public var host = Host.isFirstSegment
    /// First segments, in lower case, that are not part of the path, such as `push`; compared without case.
    ///
    /// A leading verb is available as ``Address/transition``.
    public var leadingVerbs: [String] = []
    /// Whether segments are compared without case.
    public var segmentsIgnoreCase = false
    /// Whether path values are dropped unless the literal segments of the address have the same case as the
    /// pattern.
    public var valuesNeedExactCase = false
    /// Whether `#` begins a fragment; otherwise it is ordinary text.
    public var hasFragment = true
    /// Whether a URL that is percent-encoded as a whole, including its `://`, is decoded first.
    ///
    /// The decoded URL must have a query, as in COCRouter.
    public var decodesWholeURL = false
    /// The placeholders that a pattern may have.
    public var placeholders = Placeholders.all
    /// Whether a placeholder that is a whole segment may match several segments; it matches as few as
    /// possible.
    public var placeholdersSpanSegments = false
    /// Whether spaces in a pattern are ignored.
    public var patternsIgnoreSpaces = false
    /// The meaning of `?k=v` in a pattern.
    public var patternQuery = PatternQuery.isText
    /// The rule that chooses between several patterns that match.
    public var bestMatch = BestMatch.mostSpecific
    /// The effect of an insertion when the table has a pattern that matches the same URLs, as `/:id` and
    /// `/:uid` do.
    public var sameShape = SameShape.conflicts
    /// Whether an address that matches nothing falls back to the route of its longest registered prefix.
    public var fallsBack = false
    /// The rule that chooses between query items with the same name.
    public var duplicateQueryNames = DuplicateQueryNames.lastWins
    /// Whether `?k` sets `k` to the empty value; otherwise the item is ignored.
    public var keepsQueryNamesWithoutValue = true
    /// The start of the value of a query item that contains more than one `=`.
    public var queryValues = QueryValues.beginBehindFirstEquals
    /// The rule that chooses between path and query when both have a value of the same name; a value passed
    /// with the call takes precedence over both.
    public var precedence = Precedence.pathBeforeQuery

    /// The conventions of Waybill, described in `Docs/Routing.md`.
    public static let waybill = Self()

    /// Creates the default conventions, to be changed property by property.
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

    /// The rule that chooses between several patterns that match.
    public enum BestMatch: Sendable, Hashable {
        /// The most specific pattern, decided segment by segment, with backtracking.
        case mostSpecific
        /// The pattern that is reached by following the literal edge wherever there is one, without
        /// backtracking.
        case literalWithoutBacktracking
        /// The pattern with the most literal segments.
        case mostLiteral
        /// The pattern that was registered first.
        case firstRegistered
    }

    /// The effect of an insertion when the table has a pattern that matches the same URLs, as `/:id` and
    /// `/:uid` do.
    public enum SameShape: Sendable, Hashable {
        /// The insertion fails with a conflict that names the existing pattern.
        case conflicts
        /// The new pattern replaces the existing one.
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
    /// Returns the scheme in the form that tables compare: with its case folded and its alias replaced, as
    /// the conventions define.
    package func folded(scheme: String) -> String {
        let folded = self.schemeIgnoresCase ? scheme.lowercased() : scheme
        return self.schemeAliases[folded] ?? folded
    }
}
