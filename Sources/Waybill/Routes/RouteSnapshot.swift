internal import WaybillEventLoop
internal import WaybillRouting

/// The routes, connectors and middlewares of a bus at one moment.
@usableFromInline
final class RouteSnapshot: Sendable {
    private let table: RouteTable<Target>
    private let connections: Connections
    let generation: Int

    /// The middlewares around deliveries; nil if there are none.
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

    /// Returns the target of a URL.
    ///
    /// The fast path covers handlers, which most URLs lead to.
    @inline(__always)
    func resolve(
        _ url: String,
        _ passed: PassedValues?,
        on loop: ObjectIdentifier?
    ) -> ResolvedRoute {
        if let match = try? self.table.match(url), case .handler(let handler) = self.table[match] {
            return (.handler(handler), match.take())
        }
        return self.resolveOther(url, passed, on: loop)
    }

    @inline(never)
    private func resolveOther(
        _ url: String,
        _ passed: PassedValues?,
        on loop: ObjectIdentifier?
    ) -> ResolvedRoute {
        self.table.resolve(url, passed, on: loop, connections: self.connections)
    }

    /// Returns whether and how a URL can be reached.
    func reach(_ url: String) -> Reach { self.table.reach(url, self.connections) }

    func read<Result>(
        _ body: (borrowing RouteTable<Target>) throws(RoutingError) -> Result
    ) throws(RoutingError) -> Result {
        try body(self.table)
    }
}
