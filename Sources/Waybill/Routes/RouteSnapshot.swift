internal import WaybillEventLoop
internal import WaybillRouting

/// The routes, connectors and middlewares of a bus at one moment.
@usableFromInline
final class RouteSnapshot: Sendable {
    let table: RouteTable<Target>
    let connections: Connections
    let generation: Int

    /// The middlewares that intercept messages; nil when the bus has none.
    let chain: MiddlewareChain?

    init(
        table: RouteTable<Target>,
        connections: Connections = Connections(),
        generation: Int,
        chain: MiddlewareChain? = nil
    ) {
        self.table = table
        self.connections = connections
        self.generation = generation
        self.chain = chain
    }

    /// Returns whether and how a URL can be reached.
    func reach(_ url: String) -> Reach { self.table.reach(url, self.connections) }

    func withTable<Result>(
        _ body: (borrowing RouteTable<Target>) throws(RoutingError) -> Result
    ) throws(RoutingError) -> Result {
        try body(self.table)
    }
}
