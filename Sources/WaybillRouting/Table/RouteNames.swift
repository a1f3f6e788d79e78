/// The names of what a pattern captures, shared by all patterns with the same names.
@usableFromInline
final class RouteNames: Sendable {
    let rules: AddressRules
    let names: [String]
    /// Whether each value is a rest of segments.
    let areRests: [Bool]

    init(rules: AddressRules, names: [String] = [], areRests: [Bool] = []) {
        self.rules = rules
        self.names = names
        self.areRests = areRests
    }
}
