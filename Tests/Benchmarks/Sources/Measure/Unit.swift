/// The unit of a figure.
public enum Unit: String, Sendable {
    case nanoseconds = "ns"
    case milliseconds = "ms"
    case megabytes = "MB"
    case kilobytes = "KB"
    /// A factor without a unit.
    case times
    case allocations
    case instructions

    /// Returns a value with its unit; a count has no unit, because the name of its figure contains it.
    func withUnit(_ value: Double) -> String {
        switch self {
        case .allocations, .instructions, .times: self.text(value)
        default: "\(self.text(value)) \(self.rawValue)"
        }
    }

    func text(_ value: Double) -> String {
        switch self {
        case .nanoseconds: Format.number(value, digits: value < 100 ? 1 : 0)
        case .milliseconds, .kilobytes, .megabytes: Format.number(value, digits: 1)
        case .allocations, .times: Format.number(value, digits: 2)
        case .instructions: Format.number(value, digits: 0)
        }
    }
}
