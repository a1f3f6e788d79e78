/// The names of what a pattern captures, shared by all matches of all patterns with the same names.
///
/// What few matches have beside that, values behind the eighth and values from the call, lies here as well: such a
/// match has its names for itself, and the others are smaller by it.
@usableFromInline
final class RouteNames: Sendable {
    /// What names are shared by.
    struct Key: Hashable, Sendable {
        var names: [String] = []
        /// Whether each value is a rest of segments.
        var areRests: [Bool] = []
    }

    /// What stands for the names of parameters that have none.
    static let none = RouteNames(rules: .waybill)

    let rules: AddressRules
    let names: [String]
    let areRests: [Bool]
    let count: Int
    /// Whether there is nothing here that a reader of the query would have to know.
    let areNone: Bool
    /// What one match captured behind the first eight values.
    let overflow: [URLRange]
    /// What was passed with one call; nil when nothing was.
    @usableFromInline let call: [String: any Sendable]?

    init(
        rules: AddressRules,
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
        self.areNone = key.names.isEmpty && call == nil && rules.hasUsualQueries
    }

    /// The same names for one match that captured more than eight values.
    @inline(never)
    func with(overflow: [URLRange]) -> RouteNames {
        RouteNames(rules: self.rules, Key(names: self.names, areRests: self.areRests), overflow: overflow)
    }

    /// The same names for one call that passes values.
    @inline(never)
    func with(call: [String: any Sendable]) -> RouteNames {
        RouteNames(
            rules: self.rules,
            Key(names: self.names, areRests: self.areRests),
            overflow: self.overflow,
            call: call.isEmpty ? nil : call
        )
    }
}
