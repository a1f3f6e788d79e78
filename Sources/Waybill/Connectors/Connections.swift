internal import WaybillRouting

/// The connectors of a bus by scheme.
struct Connections: Sendable {
    private var connections: [String: Connection] = [:]
    private var lastID = 0

    /// The cluster that the bus has joined, with its connection.
    var cluster: (connection: Connection, nodes: any Cluster)?

    /// All connections, in the order of their creation.
    var all: [Connection] {
        ([self.cluster?.connection].compactMap(\.self) + self.connections.values).sorted { $0.id < $1.id }
    }

    var schemes: some Sequence<String> { self.connections.keys }

    subscript(scheme: String) -> Connection? {
        // Most buses have no connectors. In these buses, no hash is computed.
        self.connections.isEmpty ? nil : self.connections[scheme]
    }

    mutating func nextID() -> Int {
        self.lastID += 1
        return self.lastID
    }

    /// Adds a connection, and returns the earlier connection of the same scheme.
    mutating func add(_ connection: Connection) -> Connection? {
        self.connections.updateValue(connection, forKey: connection.scheme)
    }

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

/// A registered connector, which handles the URLs of its scheme that no route matches.
struct Connection: Sendable {
    let id: Int
    let scheme: String
    let handler: Handler
    let connector: any Connector
    let fileID: String
    let line: Int
    /// A closure that is called when the connection has been removed.
    var onEnd: (@Sendable () -> Void)?

    /// Returns the text that represents a connection in the place of a route's pattern.
    static func pattern(of scheme: String) -> String { "\(scheme):" }

    /// The statistics of the connection, in the form of a route's statistics.
    var statistics: RouteStatistics {
        RouteStatistics(
            pattern: Self.pattern(of: self.scheme),
            fileID: self.fileID,
            line: self.line,
            counts: self.handler.counters.statistics
        )
    }

    /// Returns whether the connection can deliver to an address of its scheme.
    func canReach(_ address: Address) -> Bool {
        self.handler.canBeReached && self.connector.canRoute(address)
    }
}

/// Whether and how a URL can be reached.
enum Reach: Sendable {
    case target(Target)
    /// A connector receives the URL; the caller must call ``Connection/canReach(_:)``, outside of locks.
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
    /// Returns the target of a URL, or the connector that the caller must ask.
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

    /// Returns the error of an address without a route and a connector, with the known schemes if its scheme
    /// has neither.
    func noTarget(for address: Address, _ connections: Connections, failure: RoutingError?) -> RoutingError {
        let scheme = address.scheme
        let name = scheme.onShortLine
        let failure = (failure ?? self.noRoute(for: address)).suggesting(
            connections.cluster?.nodes.suggestions(for: address) ?? []
        )
        guard !self.hasRoutes(ofScheme: scheme), connections.cluster == nil else { return failure }
        let known = self.schemesWithRoutes.union(connections.schemes).sorted()
        let list =
            known.isEmpty
            ? "no scheme is known" : "known schemes: \(known.prefix(8).joined(separator: ", "))"
        let more = known.count > 8 ? " and \(known.count - 8) more" : ""
        let message =
            "\(failure.message); the scheme `\(name)` has no routes and no connector (\(list)\(more))"
            + (name == scheme ? "; connect it with `bus.connect(\"\(scheme)\", to:)`" : "")
        return RoutingError(failure.code, url: failure.url, message: message)
    }
}

extension RoutingError {
    /// Returns the error with the given patterns of other nodes added to its message.
    fileprivate func suggesting(_ patterns: [String]) -> RoutingError {
        guard !patterns.isEmpty else { return self }
        let list = patterns.joined(separator: " or ")
        return RoutingError(self.code, url: self.url, message: "\(self.message); other nodes have \(list)")
    }
}
