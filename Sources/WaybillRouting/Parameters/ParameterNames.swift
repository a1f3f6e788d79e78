/// The names of a pattern's captures.
///
/// All matches with the same names and at most eight captures share the object. A match with more captures
/// has its own object, which stores the captures after the eighth, so that all other matches stay smaller.
@usableFromInline
final class ParameterNames: Sendable {
    /// The key by which a trie finds an existing object.
    struct Key: Hashable, Sendable {
        var names: [String] = []
        /// Whether each capture is the value of a catch-all segment.
        var areRests: [Bool] = []

        init() {}

        init(of variant: [PatternSegment]) {
            for parameter in variant.lazy.flatMap(\.parameters) {
                self.names.append(parameter.name)
                self.areRests.append(parameter.type == "path")
            }
        }

        init(names: [String], areRests: [Bool]) {
            self.names = names
            self.areRests = areRests
        }
    }

    /// The object for parameters without captures.
    static let none = ParameterNames(rules: .waybill)

    let rules: RoutingRules
    let names: [String]
    let areRests: [Bool]
    let count: Int
    /// Whether lookups can ignore this object: it has no captures, and the query rules are the default rules.
    let isTrivial: Bool
    /// The captures of one match after the first eight.
    let overflow: [URLRange]

    init(
        rules: RoutingRules,
        _ key: Key = Key(),
        overflow: [URLRange] = []
    ) {
        self.rules = rules
        self.names = key.names
        self.areRests = key.areRests
        self.count = key.names.count
        self.overflow = overflow
        self.isTrivial = key.names.isEmpty && rules.usesDefaultQueryRules
    }

    /// Returns a copy for one match with more than eight captures.
    @inline(never)
    func with(overflow: [URLRange]) -> ParameterNames {
        ParameterNames(rules: self.rules, Key(names: self.names, areRests: self.areRests), overflow: overflow)
    }
}

/// The names that one pattern gives to its captures.
///
/// A match of another pattern can be read with these names if the two patterns differ only in the names.
package struct CaptureNames: Sendable {
    fileprivate let names: ParameterNames?
}

extension RouteTable {
    /// Returns the names of the captures of a pattern without optional groups.
    package func captureNames(of pattern: RoutePattern) -> CaptureNames {
        let key = ParameterNames.Key(of: pattern.variants[0])
        guard !key.names.isEmpty || self.trie.rules !== RoutingRules.waybill else {
            return CaptureNames(names: nil)
        }
        return CaptureNames(names: ParameterNames(rules: self.trie.rules, key))
    }
}

extension Parameters {
    /// Returns the parameters with the names of another pattern, which may differ from the matched pattern
    /// only in the names.
    package func renamed(by other: CaptureNames) -> Self {
        var renamed = self
        let overflow = self.names?.overflow ?? []
        renamed.names = overflow.isEmpty ? other.names : other.names?.with(overflow: overflow)
        return renamed
    }
}

/// The first eight captures of a match, in the order of the pattern.
///
/// Each word contains two ranges, so that a match is passed in registers and not copied in memory.
@usableFromInline
struct Captures: Sendable {
    static let capacity = 8

    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    init(_ first: UInt64 = 0, second: UInt64 = 0, third: UInt64 = 0, fourth: UInt64 = 0) {
        (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
    }

    subscript(index: Int) -> URLRange {
        let word =
            switch index &>> 1 {
            case 0: self.first
            case 1: self.second
            case 2: self.third
            default: self.fourth
            }
        return URLRange(bits: UInt32(truncatingIfNeeded: index & 1 == 1 ? word &>> 32 : word))
    }
}
