/// What a value has to look like.
enum PatternConstraint: Sendable, Hashable {
    case none
    case int
    case double
    case bool
    case uuid
}
