internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    func register(
        _ pattern: String,
        on mailbox: Mailbox,
        _ fileID: String,
        _ line: Int,
        _ body: Handler.Body
    ) throws(RoutingError) -> Registration {
        guard self.phase.load(ordering: .relaxed) == .open else { throw .shutDown(url: pattern) }
        let handler = Handler(body, mailbox: mailbox, core: self)
        let id = try self.directory.change { table throws(RoutingError) in
            try table.insert(pattern, handler, fileID: fileID, line: line)
        }
        return Registration(pattern: pattern, core: self, id: id)
    }

    func unregister(_ id: RouteID) {
        self.remove { table in [table.remove(id)] }
    }

    /// Takes handlers out of the table, and then fails who waits for them.
    @discardableResult
    func remove(_ body: (inout RouteTable<Handler>) -> [Handler?]) -> Int {
        let removed = (try? self.directory.change { table throws(RoutingError) in body(&table) }) ?? []
        let handlers = removed.compactMap(\.self)
        for handler in handlers { handler.retire(with: RoutingError.unregistered) }
        return handlers.count
    }

    /// Takes everything out, since the bus is going away.
    func retireAll() {
        self.phase.store(.closed, ordering: .sequentiallyConsistent)
        let removed = try? self.directory.change { table throws(RoutingError) in
            let handlers = table.routes.map { table.handler(for: $0.id) }
            table.removeAll()
            return handlers
        }
        for handler in (removed ?? []).compactMap(\.self) + self.topics.removeAll() {
            handler.retire(with: RoutingError.shutDown)
        }
        self.uncaught.withLock { $0 = nil }
    }
}
