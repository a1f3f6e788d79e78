/// The names of what a pattern captures, shared by all patterns with the same names.
@usableFromInline
final class RouteNames: Sendable {
    /// What names are shared by.
    struct Key: Hashable, Sendable {
        var names: [String] = []
        /// Whether each value is a rest of segments.
        var areRests: [Bool] = []
    }

    let rules: AddressRules
    let names: [String]
    let areRests: [Bool]
    let count: Int
    /// What one match captured behind the first eight values; such a match has its names for itself.
    let overflow: [URLRange]

    init(rules: AddressRules, _ key: Key = Key(), overflow: [URLRange] = []) {
        self.rules = rules
        self.names = key.names
        self.areRests = key.areRests
        self.count = key.names.count
        self.overflow = overflow
    }

    /// The same names for one match that captured more than eight values.
    @inline(never)
    func with(overflow: [URLRange]) -> RouteNames {
        RouteNames(rules: self.rules, Key(names: self.names, areRests: self.areRests), overflow: overflow)
    }
}
