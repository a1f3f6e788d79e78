/// The rules for reading addresses and matching patterns: a set of independent choices.
///
/// A table is made with conventions and keeps them. ``waybill`` is the default; the product
/// `WaybillCompatibility` has those of other routers, so that their users can keep their URLs.
public struct RoutingConventions: Sendable, Hashable {
    /// Whether schemes are compared without case.
    public var schemeIgnoresCase = true
    /// Whether URLs of a scheme that is not registered are refused.
    public var schemeMustBeRegistered = false
    /// What a URL or pattern without a scheme means.
    public var missingScheme = MissingScheme.usesDefault
    /// Aliases: a scheme in lower case, and the scheme that it stands for.
    public var schemeAliases: [String: String] = [:]
    /// What the host of a URL means.
    public var host = Host.isFirstSegment
    /// First segments, in lower case, that are not part of the path, such as `push`; compared without case.
    ///
    /// What a URL begins with is its ``Address/transition``.
    public var leadingVerbs: [String] = []
    /// Whether segments are compared without case.
    public var segmentsIgnoreCase = false
    /// Whether path values are dropped unless the address's literal segments have the case of the pattern.
    public var valuesNeedExactCase = false
    /// Whether `#` begins a fragment; otherwise it is ordinary text.
    public var hasFragment = true
    /// Whether a URL that is percent-encoded as a whole, including its `://`, is decoded first.
    ///
    /// Such a URL must have a query, as in COCRouter.
    public var decodesWholeURL = false
    /// Which placeholders a pattern may have.
    public var placeholders = Placeholders.all
    /// Whether a placeholder that is a whole segment may match several segments; it takes as few as possible.
    public var placeholdersSpanSegments = false
    /// Whether spaces in a pattern are ignored.
    public var patternsIgnoreSpaces = false
    /// What `?k=v` in a pattern means.
    public var patternQuery = PatternQuery.isText
    /// Which pattern wins when several match.
    public var bestMatch = BestMatch.mostSpecific
    /// What an insertion does when the table has a pattern of the same shape.
    public var sameShape = SameShape.conflicts
    /// Whether an address that matches nothing falls back to the route of its longest registered prefix.
    public var fallsBack = false
    /// Which query item wins when a name is repeated.
    public var duplicateQueryNames = DuplicateQueryNames.lastWins
    /// Whether `?k` gives `k` the empty value; otherwise the item is ignored.
    public var keepsQueryNamesWithoutValue = true
    /// Where the value of a query item begins, if there is more than one `=`.
    public var queryValues = QueryValues.beginBehindFirstEquals
    /// Which value wins when path and query have the same name; a value passed with the call wins over both.
    public var precedence = Precedence.pathBeforeQuery

    /// The conventions of Waybill, described in `Docs/Routing.md`.
    public static let waybill = Self()

    /// Creates the default conventions, to be changed property by property.
    public init() {}
}

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
        /// It is ignored.
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
        /// None; every pattern is literal.
        case none
    }

    /// What `?k=v` in a pattern means.
    public enum PatternQuery: Sendable, Hashable {
        /// It is ordinary text, part of a segment.
        case isText
        /// It is dropped from a pattern with placeholders; in a literal pattern it is text.
        case isIgnoredBesidePlaceholders
        /// It is dropped.
        case isIgnored
    }

    /// Which pattern wins when several match.
    public enum BestMatch: Sendable, Hashable {
        /// The most specific one, decided segment by segment, with backtracking.
        case mostSpecific
        /// The one reached by taking the literal edge wherever there is one, without backtracking.
        case literalWithoutBacktracking
        /// The one with the most literal segments.
        case mostLiteral
        /// The one that was registered first.
        case firstRegistered
    }

    /// What an insertion does when the table has a pattern of the same shape.
    public enum SameShape: Sendable, Hashable {
        /// The insertion fails with a conflict that names the existing pattern.
        case conflicts
        /// The new pattern replaces the existing one.
        case replaces
    }

    /// Which query item wins when a name is repeated.
    public enum DuplicateQueryNames: Sendable, Hashable {
        /// The last one.
        case lastWins
        /// The first one.
        case firstWins
    }

    /// Where the value of a query item begins, if there is more than one `=`.
    public enum QueryValues: Sendable, Hashable {
        /// After the first one.
        case beginBehindFirstEquals
        /// After the last one.
        case beginBehindLastEquals
    }

    /// Which value wins when path and query have the same name.
    public enum Precedence: Sendable, Hashable {
        /// The path.
        case pathBeforeQuery
        /// The query.
        case queryBeforePath
    }
}

extension RoutingConventions {
    /// The scheme in the form that tables compare: case folded and aliases followed, as the conventions say.
    package func folded(scheme: String) -> String {
        let folded = self.schemeIgnoresCase ? scheme.lowercased() : scheme
        return self.schemeAliases[folded] ?? folded
    }
}
