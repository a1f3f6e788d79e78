internal import WaybillEventLoop
internal import WaybillRouting

/// The routes as they were at one moment.
final class Snapshot: Sendable {
    private let table: RouteTable<Handler>
    let generation: Int

    /// The generation, if no middleware surrounds deliveries, and otherwise none that there ever is.
    ///
    /// So one comparison sends a message the long way for either reason.
    let plainGeneration: Int

    /// The middlewares around deliveries, if there are any.
    let chain: Chain?

    /// The same, for who holds the snapshot.
    let unretainedChain: Unretained<Chain>?

    init(table: RouteTable<Handler>, generation: Int, chain: Chain? = nil) {
        self.table = table
        self.generation = generation
        self.plainGeneration = chain == nil ? generation : -1
        self.chain = chain
        self.unretainedChain = chain.map(Unretained.init)
    }

    /// Whether a message goes from its caller straight to its handler.
    var isPlain: Bool { self.chain == nil }

    func noRoute(for url: String) -> RoutingError { self.table.noRoute(for: url) }

    /// Looks a URL up in place; a table taken out of here would be copied.
    @inline(__always)
    func find(_ url: String) throws(RoutingError) -> Found {
        try self.table.find(url)
    }

    /// The handler of a route that this table has just matched.
    @inline(__always)
    func handler(at route: RouteID) -> Handler? { self.table[route] }

    /// Looks a URL up in place; nil if nothing matches.
    @inline(__always)
    func match(_ url: String) throws(RoutingError) -> RouteMatch? { try self.table.match(url) }

    func read<Result>(
        _ body: (borrowing RouteTable<Handler>) throws(RoutingError) -> Result
    ) throws(RoutingError) -> Result {
        try body(self.table)
    }

    /// Leaves a message in the mailbox of the handler that its URL leads to.
    @inline(__always)
    func post(_ url: String, id: CorrelationID, hops: Int, due: Deadline) throws(RoutingError) {
        guard let match = try self.match(url), let handler = self.handler(at: match.route) else {
            throw self.noRoute(for: url)
        }
        let message = Message(
            id: id,
            parameters: (consume match).take(),
            hops: hops,
            due: due,
            extras: nil,
            for: handler
        )
        let mailbox = handler.mailbox
        try mailbox.post(Parcel(message: consume message, handler: consume handler))
    }
}
