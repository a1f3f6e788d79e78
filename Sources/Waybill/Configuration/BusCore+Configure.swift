internal import Logging
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Puts the routes of a configuration in the place of those of the one before.
    func configure(_ next: Configured) throws(ConfigurationError) {
        let outgoing = try self.configured.withLock { configured throws(ConfigurationError) in
            let old = configured?.routes ?? [:]
            let routes = try self.exchange(old, for: next)
            var next = next
            next.routes = routes
            configured = next
            let kept = Set(routes.values.map { ObjectIdentifier($0.handler) })
            return old.values.map(\.handler).filter { !kept.contains(ObjectIdentifier($0)) }
        }
        self.retire(outgoing)
    }

    /// Looks for the targets of the configuration again, since modules have come or gone.
    func reconfigure() {
        guard let configured = self.configured.withLock({ $0 }) else { return }
        do throws(ConfigurationError) {
            try self.configure(configured)
        } catch {
            self.logger.warning("configuration not applied again", metadata: ["error": "\(error)"])
        }
    }

    private func exchange(
        _ old: [RouteConfiguration.Entry: Configured.Bound],
        for next: Configured
    ) throws(ConfigurationError) -> [RouteConfiguration.Entry: Configured.Bound] {
        try self.directory.change { table, connections throws(ConfigurationError) in
            guard self.phase.load(ordering: .sequentiallyConsistent) == .open else {
                let error = RoutingError.shutDown(url: "")
                throw ConfigurationError(RouteConfiguration.Source(), error.message, cause: error)
            }
            var changed = table
            for bound in old.values { changed.remove(bound.id) }
            let targets = Targets(in: changed, next.destinations)
            var routes: [RouteConfiguration.Entry: Configured.Bound] = [:]
            for entry in next.configuration.entries where routes[entry] == nil {
                do throws(RoutingError) {
                    let found = try targets.find(for: entry, in: changed, connections)
                    routes[entry] = try self.bind(entry, to: found, old[entry], in: &changed)
                } catch {
                    throw ConfigurationError(entry.source, error.message, cause: error)
                }
            }
            table = changed
            return routes
        }
    }

    private func bind(
        _ entry: RouteConfiguration.Entry,
        to found: Targets.Found?,
        _ old: Configured.Bound?,
        in table: inout RouteTable<Handler>
    ) throws(RoutingError) -> Configured.Bound {
        let handler: Handler
        if let old, let found, old.source === found.handler {
            handler = old.handler
        } else {
            handler = found.map { Handler(sharing: $0.handler, target: $0.target) } ?? self.unbound(entry)
            handler.describe(as: self.description(of: entry, found))
        }
        let place = entry.source.file.isEmpty ? "configuration" : entry.source.file
        let id = try table.insert(entry.pattern, handler, fileID: place, line: entry.source.line ?? 0)
        return Configured.Bound(id: id, handler: handler, source: found?.handler, target: found?.target)
    }

    private func description(
        of entry: RouteConfiguration.Entry,
        _ found: Targets.Found?
    ) -> Handler.Description {
        guard let found else { return .unbound(entry) }
        let route = found.handler.routeDescription?.with(pattern: entry.pattern, target: found.target)
        return route.map { .route($0) } ?? .pattern(entry.pattern)
    }

    /// Fails every message, since the target of its route is not there.
    private func unbound(_ entry: RouteConfiguration.Entry) -> Handler {
        let fail: @Sendable (Message) throws -> Void = { _ in throw RoutingError.unbound(entry) }
        return Handler(immediate: fail, mailbox: self.homeMailbox, core: self)
    }
}
