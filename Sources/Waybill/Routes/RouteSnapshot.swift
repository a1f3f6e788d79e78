internal import WaybillEventLoop
internal import WaybillRouting

/// The routes as they were at one moment.
@usableFromInline
final class RouteSnapshot: Sendable {
    private let table: RouteTable<Handler>
    private let connections: Connections
    let generation: Int

    /// The generation, if no middleware intercepts deliveries, and otherwise a number that no generation has.
    ///
    /// So one comparison takes a message off the fast path for either reason.
    let plainGeneration: Int

    /// The middlewares around deliveries, if there are any.
    let chain: MiddlewareChain?

    /// The same, for code that holds the snapshot.
    let unretainedChain: Unretained<MiddlewareChain>?

    init(
        table: RouteTable<Handler>,
        connections: Connections = Connections(),
        generation: Int,
        chain: MiddlewareChain? = nil
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
    func findConnector(_ url: String, _ failure: RoutingError? = nil) throws(RoutingError) -> ResolvedRoute {
        try self.table.findConnector(url, self.connections, failure)
    }

    /// Looks a URL up in place; a table taken out of here would be copied.
    @inline(__always)
    func find(
        _ url: String,
        _ passed: PassedValues?,
        on loop: ObjectIdentifier?
    ) throws(RoutingError) -> ResolvedRoute {
        try self.table.find(url, passed, on: loop, self.connections)
    }

    /// Where a URL would lead.
    func reach(_ url: String) -> Reach { self.table.reach(url, self.connections) }

    /// The handler of a route that this table has just matched, for code that holds the snapshot.
    @inline(__always)
    func unretainedHandler(at route: RouteID) -> Unretained<Handler>? {
        self.table[route].map { Unretained($0) }
    }

    /// Looks a URL up in place; nil if nothing matches.
    @inline(__always)
    func match(_ url: String) throws(RoutingError) -> RouteMatch? { try self.table.match(url) }

    /// The same for a URL that has a number beside it.
    @inline(__always)
    func match(_ url: String, _ number: InlineNumber) -> RouteMatch { self.table.match(url, number) }

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
        expiry: Deadline,
        on loop: ObjectIdentifier?
    ) throws(RoutingError) {
        // The snapshot's table holds the handler, and the caller the snapshot.
        guard let match = try? self.match(url), let found = self.unretainedHandler(at: match.route),
            unsafe found.withUnsafeObject({ $0.instanceGroup == nil })
        else {
            // A connector, an instance of a module, or no handler.
            return try self.find(url, nil, on: loop).post(id: id, hops: hops, expiry: expiry)
        }
        let message = Message(
            id: id,
            parameters: (consume match).take(),
            hops: hops,
            expiry: expiry,
            extras: nil,
            for: found
        )
        // The snapshot's table holds the handler, and the caller the snapshot.
        let handler = unsafe found.unsafeObject
        let mailbox = handler.mailbox
        try mailbox.post(Envelope(message: consume message, handler: consume handler))
    }
}

/// Where a URL leads: the handler, and the values that its pattern took from the URL.
struct ResolvedRoute: Sendable {
    let handler: Handler
    let parameters: Parameters

    /// Consumes the route and returns its parameters; reading the property would copy them.
    @inline(__always)
    consuming func takeParameters() -> Parameters { self.parameters }

    /// What handles the message in place of a handler that stands for others, with what a configured target
    /// says.
    ///
    /// - Parameters:
    ///   - loop: the loop that the caller is on, if it is one of the bus's.
    ///   - passed: what is passed with the call, which counts first.
    /// - Returns: the handler that is called, and the parameters that it is called with.
    @inline(__always)
    func member(on loop: ObjectIdentifier?, _ passed: PassedValues?) -> ResolvedRoute {
        guard let instanceGroup = self.handler.instanceGroup else { return self }
        let parameters =
            instanceGroup.target?.applied(to: self.parameters, self.handler.core) ?? self.parameters
        return ResolvedRoute(
            handler: instanceGroup.member(on: loop, parameters, passed),
            parameters: parameters
        )
    }

    /// Leaves a message in the handler's mailbox.
    func post(id: CorrelationID, hops: Int, expiry: Deadline) throws(RoutingError) {
        let message = Message(
            id: id,
            parameters: self.parameters,
            hops: hops,
            expiry: expiry,
            extras: nil,
            for: Unretained(self.handler)
        )
        try self.handler.mailbox.post(Envelope(message: message, handler: self.handler))
    }
}

extension RouteTable where Handler == Waybill.Handler {
    /// The handler for a URL.
    ///
    /// - Parameters:
    ///   - url: where to.
    ///   - passed: what is passed with the call, which may say which instance of a module is meant.
    ///   - loop: the loop that the caller is on, if it is one of the bus's.
    ///   - connections: the connectors, which take what no route takes.
    /// - Returns: the handler, or the connector's.
    /// - Throws: `invalidURL`, or `noRoute` with a suggestion.
    @inline(__always)
    func find(
        _ url: String,
        _ passed: PassedValues?,
        on loop: ObjectIdentifier?,
        _ connections: Connections
    ) throws(RoutingError) -> ResolvedRoute {
        let match: RouteMatch?
        do throws(RoutingError) {
            match = try self.match(url)
        } catch {
            return try self.findConnector(url, connections, error)
        }
        guard let match, let handler = self[match] else {
            return try self.findConnector(url, connections, nil)
        }
        return ResolvedRoute(handler: handler, parameters: match.parameters).member(on: loop, passed)
    }
}
