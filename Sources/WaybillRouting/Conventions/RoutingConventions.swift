/// How addresses are read and matched: a set of choices that do not depend on one another.
///
/// A table is given its conventions when it is made and keeps them. ``waybill`` is the default; the other presets let
/// the users of a router bring their URLs along.
public struct RoutingConventions: Sendable, Hashable {
    /// Whether `APP` and `app` are one scheme.
    public var schemeIgnoresCase = true
    /// Whether a scheme has to be registered before a URL that carries it is looked at.
    public var schemeMustBeRegistered = false
    /// What a URL or pattern without a scheme means.
    public var missingScheme = MissingScheme.usesDefault
    /// Schemes, in lower case, that are read as another one.
    public var schemeAliases: [String: String] = [:]
    /// What the host of a URL means.
    public var host = Host.isFirstSegment
    /// First segments of a URL, in any case, that are said about the way and are not part of it: `push`, for example.
    public var leadingVerbs: [String] = []
    /// Whether `Detail` and `detail` are one segment.
    public var segmentsIgnoreCase = false
    /// Whether an address gives its path's values only if its literal segments are in the case of the pattern.
    public var valuesNeedExactCase = false
    /// Whether `#` begins a fragment; otherwise it is text like any other.
    public var hasFragment = true
    /// Whether a URL that is percent-encoded as a whole, its `://` included, is decoded first.
    ///
    /// As in the router that has this, such a URL needs a query.
    public var decodesWholeURL = false
    /// Which placeholders a pattern may have.
    public var placeholders = Placeholders.all
    /// Whether a placeholder that is a whole segment takes more segments, as few as it can.
    public var placeholdersSpanSegments = false
    /// Whether spaces in a pattern mean nothing.
    public var patternsIgnoreSpaces = false
    /// What `?k=v` in a pattern means.
    public var patternQuery = PatternQuery.isText
    /// Which pattern wins when several match.
    public var bestMatch = BestMatch.mostSpecific
    /// What happens when a pattern of the same shape is there already.
    public var sameShape = SameShape.conflicts
    /// Whether an address below a registered one reaches that one when nothing else matches.
    public var fallsBack = false
    /// Which of several query items with one name counts.
    public var duplicateQueryNames = DuplicateQueryNames.lastWins
    /// Whether `?k`, without a value, has the empty value; otherwise it is dropped.
    public var keepsQueryNamesWithoutValue = true
    /// Where the value of a query item begins, if there is more than one `=`.
    public var queryValues = QueryValues.beginBehindFirstEquals
    /// Who wins when path and query carry the same name; what is passed with a call always wins over both.
    public var precedence = Precedence.pathBeforeQuery

    /// Makes the default conventions, to be changed choice by choice.
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

extension RoutingConventions {
    /// The scheme as tables know it: case folded and aliases followed, as the conventions say.
    package func folded(scheme: String) -> String {
        let folded = self.schemeIgnoresCase ? scheme.lowercased() : scheme
        return self.schemeAliases[folded] ?? folded
    }
}
