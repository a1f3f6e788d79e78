/// What has to be known to read an address, shared by all addresses and matches of one table.
@usableFromInline
final class RoutingRules: Sendable {
    let conventions: RoutingConventions
    let limits: RoutingLimits
    let defaultScheme: String
    /// The key of the default scheme if it is short, has nothing but letters, and schemes are simple; else 0.
    let defaultSchemeKey: UInt64
    /// Whether the scanner's result has to be worked on again before it can be matched.
    let needsNormalization: Bool
    let fragmentByte: UInt8
    /// Whether the walk stops at the first route that it finds.
    let stopsAtFirst: Bool
    /// Whether the walk comes back to try other ways.
    let backtracks: Bool
    let foldsCase: Bool
    let fallsBack: Bool
    let isPathFirst: Bool
    let keepsQueryNamesWithoutValue: Bool
    let firstDuplicateWins: Bool
    let splitsAtLastEquals: Bool
    /// Whether queries are read as they are by default: `?k` is empty, the first `=` ends a name, the last item counts.
    let usesDefaultQueryRules: Bool
    let valuesNeedExactCase: Bool
    /// Whether the first match that a walk finds is the answer, and nothing else is when it finds none.
    let firstMatchIsBest: Bool
    let urlLength: Int
    let segmentLimit: Int
    let queryItemLimit: Int
    /// Whether what names no scheme is an error.
    let requiresScheme: Bool
    /// Whether schemes differ from how they are written in nothing but case.
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
        // Without fragments a byte is looked for that stands in no text.
        self.fragmentByte = conventions.hasFragment ? UInt8(ascii: "#") : 0xff
    }

    /// The rules that most tables and addresses have; what has these need not carry them along.
    static let waybill = RoutingRules(conventions: .waybill, defaultScheme: "app", limits: .default)
}

extension RoutingRules {
    /// The rules for some choices: always the same ones for the usual choices.
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
