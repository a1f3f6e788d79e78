internal import Synchronization
internal import WaybillRouting

extension BusCore {
    /// Gives a scheme to a connector, and takes it from the one that had it.
    func connect(
        _ scheme: String,
        to connector: any Connector,
        _ fileID: String,
        _ line: Int
    ) throws(RoutingError) -> Registration {
        let pattern = Connection.pattern(of: scheme)
        guard Address.isScheme(scheme) else {
            throw RoutingError(
                .invalidPattern,
                url: pattern,
                message: "this is not a scheme, which is a letter and then letters, digits, `+`, `-` and `.`"
            )
        }
        let handler = Handler(connector: connector, mailbox: self.homeMailbox, core: self)
        handler.describe(as: .pattern(pattern))
        let folded = self.configuration.conventions.folded(scheme: scheme)
        let (id, replaced) = try self.directory.change { _, connections throws(RoutingError) in
            // Seen under the lock, as in `register`.
            guard self.phase.load(ordering: .sequentiallyConsistent) == .open else {
                throw .shutDown(url: pattern)
            }
            let connection = Connection(
                id: connections.nextID(),
                scheme: folded,
                handler: handler,
                connector: connector,
                fileID: fileID,
                line: line
            )
            return (connection.id, connections.add(connection))
        }
        self.retire(replaced.map { [$0.handler] } ?? [])
        self.reconfigure()
        return Registration(pattern: pattern, core: self, target: .connection(id))
    }

    /// Takes connectors away, and then fails who waits for them.
    @discardableResult
    func disconnect(where isMeant: (Connection) -> Bool) -> Int {
        let removed = self.directory.change { _, connections in connections.remove(where: isMeant) }
        self.retire(removed.map(\.handler))
        if !removed.isEmpty { self.reconfigure() }
        return removed.count
    }
}
