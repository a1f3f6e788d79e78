internal import WaybillEventLoop
internal import WaybillRouting

/// The routes as they were at one moment.
@usableFromInline
final class Snapshot: Sendable {
    private let table: RouteTable<Handler>
    private let connections: Connections
    let generation: Int

    /// The generation, if no middleware surrounds deliveries, and otherwise none that there ever is.
    ///
    /// So one comparison sends a message the long way for either reason.
    let plainGeneration: Int

    /// The middlewares around deliveries, if there are any.
    let chain: Chain?

    /// The same, for who holds the snapshot.
    let unretainedChain: Unretained<Chain>?

    init(
        table: RouteTable<Handler>,
        connections: Connections = Connections(),
        generation: Int,
        chain: Chain? = nil
    ) {
        self.table = table
        self.connections = connections
        self.generation = generation
        self.plainGeneration = chain == nil ? generation : -1
        self.chain = chain
        self.unretainedChain = chain.map(Unretained.init)
    }

    /// Whether a message goes from its caller straight to its handler.
    var isPlain: Bool { self.chain == nil }

    /// Where a URL leads that no route takes.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - failure: why the table did not look for a route, if it did not.
    /// - Returns: the connector, as a handler.
    /// - Throws: that failure, or `noRoute` with a suggestion, if there is no connector.
    @inline(never)
    func findConnector(_ url: String, _ failure: RoutingError? = nil) throws(RoutingError) -> Found {
        try self.table.findConnector(url, self.connections, failure)
    }

    /// Looks a URL up in place; a table taken out of here would be copied.
    @inline(__always)
    func find(
        _ url: String,
        _ call: [String: any Sendable]?,
        on loop: ObjectIdentifier?
    ) throws(RoutingError) -> Found {
        try self.table.find(url, call, on: loop, self.connections)
    }

    /// Where a URL would lead.
    func reach(_ url: String) -> Reach { self.table.reach(url, self.connections) }

    /// The handler of a route that this table has just matched, for who holds the snapshot.
    @inline(__always)
    func unretainedHandler(at route: RouteID) -> Unretained<Handler>? {
        self.table[route].map { Unretained($0) }
    }

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
    func post(
        _ url: String,
        id: CorrelationID,
        hops: Int,
        due: Deadline,
        on loop: ObjectIdentifier?
    ) throws(RoutingError) {
        guard let match = try? self.match(url), let found = self.unretainedHandler(at: match.route),
            found.with({ $0.ensemble == nil })
        else {
            // A connector, an instance of a module, or nobody.
            return try self.find(url, nil, on: loop).post(id: id, hops: hops, due: due)
        }
        let message = Message(
            id: id,
            parameters: (consume match).take(),
            hops: hops,
            due: due,
            extras: nil,
            for: found
        )
        let handler = found.object
        let mailbox = handler.mailbox
        try mailbox.post(Envelope(message: consume message, handler: consume handler))
    }
}
