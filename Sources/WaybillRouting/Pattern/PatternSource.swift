/// Who wrote a pattern, which decides how much work it may take to read it.
package enum PatternSource: Sendable {
    /// The program.
    case code
    /// A peer: a subscriber behind a socket or HTTP, or another node.
    case peer

    /// The budget for the regular expressions of a pattern; nil when it may have none.
    func budget(_ limits: RoutingLimits) -> RegexBudget? {
        switch self {
        case .code: .code
        case .peer: limits.allowsExpressionsOfPeers ? .peer : nil
        }
    }
}
