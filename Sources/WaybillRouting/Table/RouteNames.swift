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

    init(rules: AddressRules, _ key: Key = Key()) {
        self.rules = rules
        self.names = key.names
        self.areRests = key.areRests
        self.count = key.names.count
    }
}
