internal import WaybillEventLoop
internal import WaybillRouting

/// The connectors of a bus by scheme; a value, as a route table is.
struct Connections: Sendable {
    private var connections: [String: Connection] = [:]
    private var lastID = 0

    /// What takes the URLs that neither a route nor the connector of their scheme takes, if the bus has
    /// joined a cluster, and the cluster itself.
    var cluster: (connection: Connection, nodes: any Cluster)?

    /// All of them, in the order of their making.
    var all: [Connection] {
        (Array(self.connections.values) + (self.cluster.map { [$0.connection] } ?? [])).sorted {
            $0.id < $1.id
        }
    }

    /// The schemes that are connected.
    var schemes: some Sequence<String> { self.connections.keys }

    subscript(scheme: String) -> Connection? {
        // Most buses have none: then there is nothing to hash.
        self.connections.isEmpty ? nil : self.connections[scheme]
    }

    /// A number for the next connection.
    mutating func nextID() -> Int {
        self.lastID += 1
        return self.lastID
    }

    /// Puts a connection in the place of the one that its scheme had, which is returned.
    mutating func add(_ connection: Connection) -> Connection? {
        self.connections.updateValue(connection, forKey: connection.scheme)
    }

    /// Takes some away, and returns them.
    mutating func remove(where isMeant: (Connection) -> Bool) -> [Connection] {
        let removed = self.all.filter(isMeant)
        for connection in removed {
            if connection.id == self.cluster?.connection.id {
                self.cluster = nil
            } else {
                self.connections[connection.scheme] = nil
            }
        }
        return removed
    }
}

/// A connector that is registered: it handles what no route of its scheme takes.
struct Connection: Sendable {
    let id: Int
    let scheme: String
    let handler: Handler
    let connector: any Connector
    let fileID: String
    let line: Int

    /// What it is called where a route would show its pattern.
    static func pattern(of scheme: String) -> String { "\(scheme):" }

    /// Its statistics, as a route has them.
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

/// Where a URL would lead.
enum Reach: Sendable {
    case target(Target)
    /// The connector has to be asked, which is done outside of locks.
    case connection(Connection, Address)
    case unreachable

    /// Whether a handler can be reached.
    var isPossible: Bool {
        switch self {
        case .target(let target): target.canBeReached
        case .connection(let connection, let address): connection.canReach(address)
        case .unreachable: false
        }
    }
}

extension RouteTable where Handler == Target {
    /// Whether a URL leads to a handler that can be reached, or to a connector, which is to be asked.
    func reach(_ url: String, _ connections: Connections) -> Reach {
        var url = url
        if let match = (try? self.match(url)) ?? nil, let target = self[match] {
            guard let connected = target.group?.configured?.connectedURL else { return .target(target) }
            url = connected
        }
        guard let address = try? self.address(of: url),
            let connection = connections[address.scheme] ?? connections.cluster?.connection
        else { return .unreachable }
        return .connection(connection, address)
    }

    /// Returns the error of an address that has neither a route nor a connector.
    ///
    /// The error names the known schemes when nothing of the address's scheme is known.
    func noTarget(
        for address: Address,
        _ connections: Connections,
        failure: RoutingError?
    ) -> RoutingError {
        let scheme = address.scheme
        let name = scheme.onShortLine
        let failure = (failure ?? self.noRoute(for: address)).suggesting(
            connections.cluster?.nodes.suggestions(for: address) ?? []
        )
        guard !self.hasRoutes(ofScheme: scheme), connections.cluster == nil else { return failure }
        let known = self.schemesWithRoutes.union(connections.schemes).sorted()
        let list =
            known.isEmpty
            ? "there is no other one either" : "there are \(known.prefix(8).joined(separator: ", "))"
        let more = known.count > 8 ? " and \(known.count - 8) more" : ""
        return RoutingError(
            failure.code,
            url: failure.url,
            message:
                "\(failure.message); the scheme `\(name)` has no routes and no connector (\(list)\(more))"
                + (name == scheme ? ", and `bus.connect(\"\(scheme)\", to:)` connects it" : "")
        )
    }
}

extension RoutingError {
    /// The same with patterns of other nodes.
    fileprivate func suggesting(_ patterns: [String]) -> RoutingError {
        guard !patterns.isEmpty else { return self }
        let list = patterns.joined(separator: " or ")
        return RoutingError(self.code, url: self.url, message: "\(self.message); other nodes have \(list)")
    }
}
