/// The conventions and limits of one table in the form in which scan and match read them: one flag or number
/// per question, shared by all addresses and matches of the table.
@usableFromInline
final class RoutingRules: Sendable {
    let conventions: RoutingConventions
    let limits: RoutingLimits
    let defaultScheme: String
    /// The ``SegmentKey`` of the default scheme, if that is shorter than eight bytes, consists of letters,
    /// and schemes differ in case only; else 0.
    let defaultSchemeKey: UInt64
    /// Whether every scan needs `normalizeSegments` before it can be matched.
    let needsNormalization: Bool
    let fragmentByte: UInt8
    /// Whether the search stops at the first leaf.
    let stopsAtFirst: Bool
    /// Whether the search backtracks.
    let backtracks: Bool
    let foldsCase: Bool
    let fallsBack: Bool
    let isPathFirst: Bool
    let keepsQueryNamesWithoutValue: Bool
    let firstDuplicateWins: Bool
    let splitsAtLastEquals: Bool
    /// Whether queries are read by the default rules: `?k` is empty, the first `=` ends a name, the last item
    /// wins.
    let usesDefaultQueryRules: Bool
    let valuesNeedExactCase: Bool
    /// Whether the first leaf of a search is the answer, and no leaf means no match.
    let firstMatchIsBest: Bool
    let urlLength: Int
    let segmentLimit: Int
    let queryItemLimit: Int
    /// Whether a URL or pattern without a scheme is an error.
    let requiresScheme: Bool
    /// Whether comparing schemes needs nothing but case folding.
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
        // 0xff occurs in no UTF-8 text, so nothing ends the query.
        self.fragmentByte = conventions.hasFragment ? UInt8(ascii: "#") : 0xff
    }

    /// The rules of the default conventions, scheme and limits; an address or match with these stores no
    /// reference to them.
    static let waybill = RoutingRules(conventions: .waybill, defaultScheme: "app", limits: .default)
}

extension RoutingRules {
    /// The rules for these choices; the default choices share one instance.
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
