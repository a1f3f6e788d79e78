internal import WaybillEventLoop
internal import WaybillRouting

/// A connector in its place: it handles what no route of its scheme takes.
struct Connection: Sendable {
    let id: Int
    let scheme: String
    let handler: Handler
    let connector: any Connector
    let fileID: String
    let line: Int

    /// What stands for it where a route would show its pattern.
    static func pattern(of scheme: String) -> String { "\(scheme):" }

    /// Its books, as a route has them.
    var statistics: RouteStatistics {
        RouteStatistics(
            pattern: Self.pattern(of: self.scheme),
            fileID: self.fileID,
            line: self.line,
            counts: self.handler.counters.statistics
        )
    }

    /// Whether an address of its scheme leads anywhere.
    func canReach(_ address: Address) -> Bool {
        self.handler.canBeReached && self.connector.canRoute(address)
    }
}
