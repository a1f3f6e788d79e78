/// Who wrote a pattern, which decides how much work it may take to read it.
package enum PatternSource: Sendable {
    /// The program.
    case code
    /// A subscriber behind a socket, HTTP or the console.
    case peer
    /// Another node of a cluster, which has the pattern in its code.
    case node

    /// The budget for the regular expressions of a pattern; nil when it may have none.
    func budget(_ limits: RoutingLimits) -> RegexBudget? {
        switch self {
        case .code: .code
        case .peer, .node: limits.allowsExpressionsOfPeers ? .peer : nil
        }
    }

    /// The maximum number of optional groups; each doubles the number of patterns that a pattern stands for.
    var groupLimit: Int {
        switch self {
        case .code, .node: 6
        case .peer: 2
        }
    }
}
