internal import Logging
internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Puts the routes of a configuration in the place of the routes of the one before with its name.
    func configure(_ next: Configured) throws(ConfigurationError) {
        try self.bindConfigurations { $0.put(next) }
    }

    /// Resolves the targets of all configurations again, since modules have come or gone.
    func reconfigure() {
        guard self.configured.withLock({ !$0.isEmpty }) else { return }
        do throws(ConfigurationError) {
            try self.bindConfigurations { _ in }
        } catch {
            self.logger.warning("configuration not applied again", metadata: ["error": "\(error)"])
        }
    }

    /// Changes the configurations, and binds the routes of all of them: of none if one is wrong.
    private func bindConfigurations(
        _ change: (inout ConfigurationRegister) -> Void
    ) throws(ConfigurationError) {
        let outgoing = try self.configured.withLock { register throws(ConfigurationError) in
            var next = register
            change(&next)
            let outgoing = try self.registry.change { table, connections throws(ConfigurationError) in
                guard self.phase.load(ordering: .sequentiallyConsistent) == .open else {
                    let error = RoutingError.shutDown(url: "")
                    throw ConfigurationError(RouteConfiguration.Source(), error.message, cause: error)
                }
                var changed = table
                let outgoing = try next.bind(in: &changed, connections, self)
                table = changed
                return outgoing
            }
            register = next
            return outgoing
        }
        self.retire(outgoing)
    }

    /// Returns the handler of a configured route.
    ///
    /// - Parameters:
    ///   - entry: the route.
    ///   - found: its target; nil when that is not there.
    ///   - old: how the route was bound before; its handler is kept if it runs the same code.
    /// - Returns: the handler.
    func handler(
        of entry: RouteConfiguration.Entry,
        _ found: Targets.ResolvedRoute?,
        keeping old: Configured.Bound?
    ) -> Handler {
        if let old, let found, old.source === found.handler { return old.handler }
        let handler = found.map { Handler(sharing: $0.handler, target: $0.target) } ?? self.unbound(entry)
        handler.describe(as: self.description(of: entry, found))
        return handler
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
        /// The routes in code whose place it has taken, by conventions that replace, until it goes.
        var hidden: [HiddenRoute]
    }

    let name: String
    let configuration: RouteConfiguration
    let destinations: [String: Handler]
    var routes: [RouteConfiguration.Entry: Bound] = [:]
    /// The entries whose routes code has unregistered or replaced since the configuration was loaded.
    var overridden: Set<RouteConfiguration.Entry> = []
    /// Whether its routes have been bound since it was loaded.
    var isBound = false

    init(
        _ configuration: RouteConfiguration,
        named name: String,
        _ destinations: [String: MessageBus.Destination],
        _ core: BusCore
    ) {
        self.name = name
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

    /// Finds the actions of modules.
    ///
    /// - Parameter table: the routes that are registered in code.
    init(in table: RouteTable<Handler>) {
        for route in table.routes {
            guard let handler = table.handler(for: route.id), let description = handler.routeDescription,
                let module = description.module, let action = description.action
            else { continue }
            self.actions[ModuleName(module).schemeKey, default: [:]][action] = handler
        }
    }

    /// Finds the handler of an entry's messages.
    ///
    /// - Parameters:
    ///   - entry: the route of a configuration.
    ///   - destinations: the destinations that were passed with the configuration, by name.
    ///   - table: the routes, as far as they are bound.
    ///   - connections: the connectors.
    /// - Returns: the handler; nil when the target is not there.
    /// - Throws: `invalidPattern`, and `invalidURL` for a target that is a URL and cannot be read.
    func find(
        for entry: RouteConfiguration.Entry,
        among destinations: [String: Handler],
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
        if let destination = destinations[entry.target] { return ResolvedRoute(handler: destination) }
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
