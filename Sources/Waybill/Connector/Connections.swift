internal import WaybillRouting

/// The connectors of a bus by scheme; a value, as a route table is.
struct Connections: Sendable {
    private var connections: [String: Connection] = [:]
    private var lastID = 0

    /// All of them, in the order of their making.
    var all: [Connection] { self.connections.values.sorted { $0.id < $1.id } }

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
        for connection in removed { self.connections[connection.scheme] = nil }
        return removed
    }
}
