internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    func register(
        _ handler: Handler,
        _ pattern: String,
        _ fileID: String,
        _ line: Int
    ) throws(RoutingError) -> Registration {
        handler.describe(as: .pattern(pattern))
        return try self.register([handler], fileID, line)[0]
    }

    /// Registers handlers for the patterns that they are described with: all of them, or none.
    func register(
        _ handlers: [Handler],
        _ fileID: String,
        _ line: Int
    ) throws(RoutingError) -> [Registration] {
        let patterns = handlers.map { $0.pattern ?? "" }
        if patterns.count > 1 {
            // A pattern that cannot be read must be found before another one has taken somebody's place.
            for pattern in patterns { _ = try self.configuration.pattern(pattern) }
        }
        let (ids, replaced) = try self.directory.change { table, _ throws(RoutingError) in
            // Seen under the lock: whoever empties the table afterwards finds the handler, or it does not get in.
            guard self.phase.load(ordering: .sequentiallyConsistent) == .open else {
                throw .shutDown(url: patterns.first ?? "")
            }
            let replaces = self.configuration.conventions.sameShape == .replaces
            // If a later pattern fails, what an earlier one has replaced comes back as it was, known by the
            // same ID. One pattern replaces nothing unless it can be inserted.
            let before = replaces && patterns.count > 1 ? table : nil
            var ids: [RouteID] = []
            var replaced: [Handler] = []
            do throws(RoutingError) {
                for (pattern, handler) in zip(patterns, handlers) {
                    if replaces { replaced += try table.removeRivals(of: pattern) }
                    ids.append(try table.insert(pattern, handler, fileID: fileID, line: line))
                }
            } catch {
                for id in ids { _ = table.remove(id) }
                if let before { table = before }
                throw error
            }
            return (ids, replaced)
        }
        self.retire(replaced)
        return zip(patterns, ids).map { Registration(pattern: $0, core: self, target: .route($1)) }
    }

    func unregister(_ target: Registration.Target) {
        switch target {
        case .route(let id): self.remove { table in [table.remove(id)] }
        case .connection(let id): self.disconnect { $0.id == id }
        case .service(let id): self.withdraw(id)
        case .subscription(let id): self.unsubscribe(id)
        case .middleware(let id?):
            self.directory.surround { $0.remove(id) }
            self.forget()
        case .middleware(nil): break
        }
    }

    /// Takes handlers out of the table, and then fails who waits for them.
    @discardableResult
    func remove(_ body: (inout RouteTable<Handler>) -> [Handler?]) -> Int {
        let removed = self.directory.change { table, _ in body(&table) }
        let handlers = removed.compactMap(\.self)
        self.retire(handlers)
        if handlers.contains(where: { $0.routeDescription != nil }) { self.reconfigure() }
        return handlers.count
    }

    func retire(_ handlers: [Handler]) {
        guard !handlers.isEmpty else { return }
        for handler in handlers { handler.retire(with: RoutingError.unregistered) }
        self.forget()
    }

    /// Takes everything out, since the bus is going away, and fails who waits but for those who are spared.
    func retireAll(sparing spared: [Exchange] = []) {
        self.phase.store(.closed, ordering: .sequentiallyConsistent)
        let removed = self.directory.change { table, connections in
            let handlers = table.routes.map { table.handler(for: $0.id) }
            table.removeAll()
            return handlers + connections.remove { _ in true }.map(\.handler)
        }
        self.endTraces(self.directory.surround { $0.close() })
        for handler in removed.compactMap(\.self) {
            handler.retire(with: RoutingError.shutDown, sparing: spared)
        }
        for subscriber in self.topics.close() {
            subscriber.retire(with: RoutingError.shutDown, sparing: spared)
        }
        // Those of an earlier end are in no handler's list any more.
        for late in self.spared.withLock({ $0.exchanges }) where !spared.contains(where: { $0 === late }) {
            late.finish(.failed(.shutDown(url: late.url)))
        }
        let uncaught = self.uncaught.withLock { $0.take() }
        _ = consume uncaught
        let configured = self.configured.withLock { $0.take() }
        _ = consume configured
        let performFailed = self.performFailed.withLock { $0.take() }
        _ = consume performFailed
        self.withdrawAll()
        self.unwatch()
        self.forget()
        self.closeDeadLetters()
    }

    /// Ends traces that do not end by themselves within a second: a message on its way still holds them.
    private func endTraces(_ ends: [@Sendable () -> Void]) {
        guard !ends.isEmpty else { return }
        DeadlineWatch.timekeeper.schedule(at: Deadline(.now + .seconds(1))) { for end in ends { end() } }
    }
}
