/// The origin of a pattern, which limits the work that parsing it may take.
package enum PatternSource: Sendable {
    /// The program.
    case code
    /// A subscriber behind a socket, HTTP or the console.
    case peer
    /// Another node of a cluster, whose code contains the pattern.
    case node

    /// Returns the budget for the regular expressions of a pattern; nil when the pattern may have none.
    func budget(_ limits: RoutingLimits) -> RegexBudget? {
        switch self {
        case .code: .code
        case .peer, .node: limits.allowsExpressionsOfPeers ? .peer : nil
        }
    }

    /// The maximum number of optional groups; each group doubles the number of expansions.
    var groupLimit: Int {
        switch self {
        case .code, .node: 6
        case .peer: 2
        }
    }
}
