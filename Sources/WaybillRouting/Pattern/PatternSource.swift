/// The origin of a pattern.
///
/// It limits the work that the parser may do for the pattern.
package enum PatternSource: Sendable {
    /// The program.
    case code
    /// A subscriber that uses a socket, HTTP or the console.
    case peer
    /// Another process of a cluster.
    ///
    /// The pattern is in the code of that process.
    case node
    /// A table, which has already accepted the pattern.
    ///
    /// The table may have added the scheme, so the text may be longer than the limit.
    case table

    /// Returns the budget for the regular expressions of a pattern; nil when the pattern must not contain
    /// any.
    func budget(_ limits: RoutingLimits) -> RegexBudget? {
        switch self {
        case .code, .table: .code
        case .peer, .node: limits.allowsExpressionsOfPeers ? .peer : nil
        }
    }

    /// The maximum number of optional groups, each of which doubles the number of expansions.
    var groupLimit: Int {
        switch self {
        case .code, .node, .table: 6
        case .peer: 2
        }
    }
}
