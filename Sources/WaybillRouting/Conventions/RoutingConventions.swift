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
