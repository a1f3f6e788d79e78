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
        try self.registry.change { table, connections throws(ConfigurationError) in
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
        to found: Targets.ResolvedRoute?,
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
        _ found: Targets.ResolvedRoute?
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

/// A configuration that is loaded, and what has become of it.
struct Configured: Sendable {
    /// A route of the configuration.
    struct Bound: Sendable {
        let id: RouteID
        let handler: Handler
        /// The handler whose code it runs; nil if its target is not registered.
        let source: Handler?
        /// What its target says to that code, if it is a URL that says something.
        let target: ConfiguredTarget?
    }

    let configuration: RouteConfiguration
    let destinations: [String: Handler]
    var routes: [RouteConfiguration.Entry: Bound] = [:]

    init(
        _ configuration: RouteConfiguration,
        _ destinations: [String: MessageBus.Destination],
        _ core: BusCore
    ) {
        self.configuration = configuration
        self.destinations = destinations.mapValues {
            Handler(suspending: $0, mailbox: core.homeMailbox, core: core)
        }
    }
}

/// What the targets of a configuration can name: the actions of modules, destinations, and URLs.
struct Targets {
    /// What handles an entry's messages.
    struct ResolvedRoute {
        let handler: Handler
        /// What the target says to the handler, if it is a URL that says something.
        var target: ConfiguredTarget?
    }

    private var actions: [String: [String: Handler]] = [:]
    private let destinations: [String: Handler]

    init(in table: RouteTable<Handler>, _ destinations: [String: Handler]) {
        self.destinations = destinations
        for route in table.routes {
            guard let handler = table.handler(for: route.id), let description = handler.routeDescription,
                let module = description.module, let action = description.action
            else { continue }
            self.actions[ModuleName(module).schemeKey, default: [:]][action] = handler
        }
    }

    /// What handles an entry's messages; nil if it is not there.
    ///
    /// - Throws: `invalidPattern`, and `invalidURL` for a target that is a URL and cannot be read.
    func find(
        for entry: RouteConfiguration.Entry,
        in table: RouteTable<Handler>,
        _ connections: Connections
    ) throws(RoutingError) -> ResolvedRoute? {
        guard !entry.target.isEmpty else {
            throw RoutingError(
                .invalidPattern,
                url: entry.pattern,
                message:
                    "the target is empty; it is an action of a module, a URL, or the name of a destination"
            )
        }
        if let destination = self.destinations[entry.target] { return ResolvedRoute(handler: destination) }
        let pattern = try table.pattern(entry.pattern)
        if entry.isURL { return try Self.find(entry.target, pattern, in: table, connections) }
        // Of a selector, `detail:` or `detail:in:`, the base name is the action's.
        let target = entry.target.prefix { $0 != ":" }
        let names = target.split(separator: ".", omittingEmptySubsequences: false)
        let action =
            names.count == 2
            ? self.actions[ModuleName(String(names[0])).schemeKey]?[String(names[1])]
            : self.actions[ModuleName(pattern.scheme).schemeKey]?[String(target)]
        return action.map { ResolvedRoute(handler: $0) }
    }

    private static func find(
        _ url: String,
        _ pattern: RoutePattern,
        in table: RouteTable<Handler>,
        _ connections: Connections
    ) throws(RoutingError) -> ResolvedRoute? {
        let address = try table.address(of: url)
        if let match = (try? table.match(url)) ?? nil, let handler = table[match] {
            let values = ConfiguredTarget.values(
                in: match.parameters,
                names: Set(pattern.parameters.map(\.name))
            )
            let behind = handler.instanceGroup?.target
            let target = values.isEmpty ? behind : ConfiguredTarget.values(values).before(behind)
            return ResolvedRoute(handler: handler, target: target)
        }
        return connections[address.scheme].map { ResolvedRoute(handler: $0.handler, target: .connected(url)) }
    }
}

extension RouteConfiguration.Entry {
    /// Whether the target is a URL, and not a name.
    var isURL: Bool { self.target.contains("://") }
}

extension RoutingError {
    /// The failure of a message to a route of a configuration whose target is not registered.
    static func unbound(_ entry: RouteConfiguration.Entry) -> Self {
        let target = "its target `\(entry.target.onShortLine)`"
        let message =
            entry.isURL
            ? "no route and no connector takes \(target) (\(entry.source))"
            : "\(target) is not there (\(entry.source)); is the module installed?"
        return Self(.noHandler, message: message)
    }
}
