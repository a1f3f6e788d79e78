/// The names of what a pattern captures, shared by all matches of all patterns with the same names.
///
/// What few matches have beside that, values behind the eighth and values from the call, lies here as well: such a
/// match has its names for itself, and the others are smaller by it.
@usableFromInline
final class ParameterNames: Sendable {
    /// What names are shared by.
    struct Key: Hashable, Sendable {
        var names: [String] = []
        /// Whether each value is a rest of segments.
        var areRests: [Bool] = []
    }

    /// What stands for the names of parameters that have none.
    static let none = ParameterNames(rules: .waybill)

    let rules: RoutingRules
    let names: [String]
    let areRests: [Bool]
    let count: Int
    /// Whether there is nothing here that a reader of the query would have to know.
    let isTrivial: Bool
    /// What one match captured behind the first eight values.
    let overflow: [URLRange]
    /// What was passed with one call; nil when nothing was.
    @usableFromInline let call: [String: any Sendable]?

    init(
        rules: RoutingRules,
        _ key: Key = Key(),
        overflow: [URLRange] = [],
        call: [String: any Sendable]? = nil
    ) {
        self.rules = rules
        self.names = key.names
        self.areRests = key.areRests
        self.count = key.names.count
        self.overflow = overflow
        self.call = call
        self.isTrivial = key.names.isEmpty && call == nil && rules.usesDefaultQueryRules
    }

    /// The same names for one match that captured more than eight values.
    @inline(never)
    func with(overflow: [URLRange]) -> ParameterNames {
        ParameterNames(rules: self.rules, Key(names: self.names, areRests: self.areRests), overflow: overflow)
    }

    /// The same names for one call that passes values.
    @inline(never)
    func with(call: [String: any Sendable]) -> ParameterNames {
        ParameterNames(
            rules: self.rules,
            Key(names: self.names, areRests: self.areRests),
            overflow: self.overflow,
            call: call.isEmpty ? nil : call
        )
    }
}

/// The first eight values that a match captured, in the order of the pattern.
///
/// Two ranges lie in each word: a match is moved about in few registers instead of being copied as memory.
@usableFromInline
struct Captures: Sendable {
    static let capacity = 8

    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    @inline(__always)
    init(_ first: UInt64 = 0, _ second: UInt64 = 0, _ third: UInt64 = 0, _ fourth: UInt64 = 0) {
        (self.first, self.second, self.third, self.fourth) = (first, second, third, fourth)
    }

    @inline(__always)
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
