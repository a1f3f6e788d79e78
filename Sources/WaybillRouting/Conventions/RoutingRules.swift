/// The conventions and limits of one table, in the form that scans and matches read.
///
/// Each decision of a scan or match reads one flag or number. All addresses and matches of the table share
/// the object.
@usableFromInline
final class RoutingRules: Sendable {
    let conventions: RoutingConventions
    let limits: RoutingLimits
    let defaultScheme: String
    /// The ``SegmentKey`` of the default scheme; 0 when schemes cannot be compared by this key.
    ///
    /// The key is set only if the scheme is shorter than eight bytes and consists of letters, and if schemes
    /// that differ only in case are equal.
    let defaultSchemeKey: UInt64
    /// Whether `normalizeSegments` must change every scanned address before the address can be matched.
    let needsNormalization: Bool
    let fragmentByte: UInt8
    /// Whether the search stops at the first leaf, which is the end of a pattern in the trie.
    let stopsAtFirst: Bool
    /// Whether the search returns to an untried edge after a failure.
    let backtracks: Bool
    let foldsCase: Bool
    let fallsBack: Bool
    let isPathFirst: Bool
    let keepsQueryNamesWithoutValue: Bool
    let firstDuplicateWins: Bool
    let splitsAtLastEquals: Bool
    /// Whether queries are read by the default rules: `?k` has the empty value, the first `=` ends a name,
    /// and the last item is used.
    let usesDefaultQueryRules: Bool
    let valuesNeedExactCase: Bool
    /// Whether the first leaf of a search is the best match.
    ///
    /// A search without a leaf then means that no route matches.
    let firstMatchIsBest: Bool
    let urlLength: Int
    let segmentLimit: Int
    let queryItemLimit: Int
    /// Whether a URL or pattern without a scheme is an error.
    let requiresScheme: Bool
    /// Whether two schemes are equal if and only if they are equal after case folding.
    let schemesDifferInCaseOnly: Bool

    init(conventions: RoutingConventions, defaultScheme: String, limits: RoutingLimits) {
        self.conventions = conventions
        self.limits = limits
        self.defaultScheme = conventions.folded(scheme: defaultScheme)
        self.stopsAtFirst = [.mostSpecific, .literalWithoutBacktracking].contains(conventions.bestMatch)
        self.backtracks = conventions.bestMatch != .literalWithoutBacktracking
        self.foldsCase = conventions.segmentsIgnoreCase
        self.fallsBack = conventions.fallsBack
        self.valuesNeedExactCase = conventions.valuesNeedExactCase && conventions.segmentsIgnoreCase
        self.keepsQueryNamesWithoutValue = conventions.keepsQueryNamesWithoutValue
        self.firstDuplicateWins = conventions.duplicateQueryNames == .firstWins
        self.splitsAtLastEquals = conventions.queryValues == .beginBehindLastEquals
        self.usesDefaultQueryRules =
            self.keepsQueryNamesWithoutValue && !self.firstDuplicateWins && !self.splitsAtLastEquals
        self.isPathFirst = conventions.precedence == .pathBeforeQuery
        self.firstMatchIsBest = self.stopsAtFirst && !self.valuesNeedExactCase && !self.fallsBack
        self.urlLength = min(limits.urlLength, URLRange.longest)
        self.segmentLimit = limits.segments
        self.queryItemLimit = limits.queryItems
        self.schemesDifferInCaseOnly = conventions.schemeIgnoresCase && conventions.schemeAliases.isEmpty
        let key = SegmentKey.of(self.defaultScheme.utf8)
        let isInLetters = self.defaultScheme.utf8.allSatisfy(ASCII.isLetter)
        self.defaultSchemeKey =
            self.schemesDifferInCaseOnly && isInLetters && !SegmentKey.isHash(key) ? key : 0
        self.requiresScheme = conventions.missingScheme == .isError || defaultScheme.isEmpty
        self.needsNormalization =
            conventions.segmentsIgnoreCase || conventions.host != .isFirstSegment
            || !conventions.leadingVerbs.isEmpty
        // The byte 0xff never occurs in UTF-8, so with this value no byte begins a fragment.
        self.fragmentByte = conventions.hasFragment ? UInt8(ascii: "#") : 0xff
    }

    /// The rules of the default conventions, scheme and limits.
    ///
    /// An address or a match with these rules need not store a reference to them.
    static let waybill = RoutingRules(conventions: .waybill, defaultScheme: "app", limits: .default)
}

extension RoutingRules {
    /// Returns the rules for the given choices; all tables with the default choices share one object.
    static func shared(
        conventions: RoutingConventions,
        defaultScheme: String,
        limits: RoutingLimits
    ) -> RoutingRules {
        conventions == .waybill && defaultScheme == "app" && limits == .default
            ? .waybill
            : RoutingRules(conventions: conventions, defaultScheme: defaultScheme, limits: limits)
    }
}
