internal import WaybillRouting

/// Where a URL would lead.
enum Reach: Sendable {
    case handler(Handler)
    /// The connector has to be asked, which is done outside of locks.
    case connection(Connection, Address)
    case nobody

    /// Whether somebody is there.
    var isPossible: Bool {
        switch self {
        case .handler(let handler): handler.canBeReached
        case .connection(let connection, let address): connection.canReach(address)
        case .nobody: false
        }
    }
}
