internal import Logging
internal import WaybillEventLoop
internal import WaybillRouting

extension BusCore {
    /// Finds the targets of all configurations again, because routes or connectors have changed.
    func reconfigure() {
        guard self.configured.withLock({ !$0.isEmpty }) else { return }
        do throws(ConfigurationError) {
            try self.bindConfigurations { _ in }
        } catch {
            self.logger.warning("configuration not applied again", metadata: ["error": "\(error)"])
        }
    }

    /// Finds the targets of all configurations again if configured routes lead to any of the changed routes.
    func reconfigure(after changed: [Target]) {
        let register = self.configured.withLock { $0 }
        guard !register.isEmpty, !changed.isEmpty else { return }
        if self.registry.withTable({ register.leads(to: changed, in: $0) }) { self.reconfigure() }
    }

    /// Changes the configurations and binds their routes, or changes nothing when an entry is invalid.
    func bindConfigurations(_ change: (inout ConfigurationRegister) -> Void) throws(ConfigurationError) {
        let (outgoing, _) = try self.configured.withLock { register throws(ConfigurationError) in
            var next = register
            change(&next)
            let outgoing = try self.registry.change { table, connections throws(ConfigurationError) in
                do throws(RoutingError) {
                    try self.checkOpen(for: "")
                } catch {
                    throw ConfigurationError(RouteConfiguration.Source(), error.message, cause: error)
                }
                var changed = table
                let outgoing = try next.bind(in: &changed, connections, self)
                table = changed
                return outgoing
            }
            return (outgoing, Swift.exchange(&register, with: next))
        }
        self.retire(outgoing)
    }

    /// Returns the target of a configured route, and keeps the earlier target if it runs the same code.
    func target(
        of entry: RouteConfiguration.Entry,
        _ found: Targets.Found?,
        keeping old: Configured.Bound?
    ) -> Target {
        if let old, let source = old.found?.target, let found, source === found.target { return old.target }
        let target = found.map { $0.target.sharing($0.configured) } ?? .handler(self.unbound(entry))
        target.describe(as: self.description(of: entry, found))
        return target
    }

    private func description(
        of entry: RouteConfiguration.Entry,
        _ found: Targets.Found?
    ) -> Handler.Description {
        guard let found else { return .unbound(entry) }
        let route = found.target.routeDescription?.described(by: entry.pattern, target: found.configured)
        return route.map { .route($0) } ?? .pattern(entry.pattern)
    }

    /// Returns a handler that fails every message, for a route whose target is not registered.
    private func unbound(_ entry: RouteConfiguration.Entry) -> Handler {
        let fail: @Sendable (Message) throws -> Void = { _ in throw RoutingError.unbound(entry) }
        return Handler(synchronous: fail, core: self)
    }
}

/// A loaded configuration, and its routes with their targets.
struct Configured: Sendable {
    /// A route of the configuration.
    struct Bound: Sendable {
        let id: RouteID
        let target: Target
        /// The target whose code the route runs; nil when this target is not registered.
        let found: Targets.Found?
        /// The routes from code that this route replaces until it is removed, with conventions that allow the
        /// replacement.
        var hidden: [HiddenRoute]

        /// Whether the route replaces the module's own route of the same action.
        var hidesItsAction: Bool {
            let own = self.target.routeDescription
            return self.hidden.map(\.target.routeDescription).contains { route in
                route != nil && route?.module == own?.module && route?.action == own?.action
            }
        }
    }

    let name: String
    let configuration: RouteConfiguration
    let destinations: [String: Handler]
    /// The default scheme at the time when the configuration was loaded.
    private let defaultScheme: String
    var routes: [RouteConfiguration.Entry: Bound] = [:]
    /// The entries whose routes code has unregistered or replaced after the configuration was loaded.
    var overridden: Set<RouteConfiguration.Entry> = []
    /// Whether the routes have been bound since the configuration was loaded.
    var isBound = false

    init(
        _ configuration: RouteConfiguration,
        named name: String,
        destinations: [String: MessageBus.Destination],
        on core: BusCore
    ) {
        self.name = name
        self.configuration = configuration
        self.destinations = destinations.mapValues { Handler(suspending: $0, core: core) }
        self.defaultScheme = core.currentConfiguration.defaultScheme
    }

    /// Returns the pattern of an entry.
    ///
    /// A pattern without a scheme keeps the default scheme of the time when the configuration was loaded.
    func pattern(
        of entry: RouteConfiguration.Entry,
        in table: RouteTable<Target>
    ) throws(RoutingError) -> RoutePattern {
        try RoutePattern(
            entry.pattern,
            conventions: table.conventions,
            defaultScheme: self.defaultScheme,
            limits: table.limits
        )
    }
}

/// The possible targets of configured routes: the actions of modules, destinations, and URLs.
struct Targets {
    /// The target of an entry's messages.
    struct Found: Sendable {
        let target: Target
        /// The values in the configured URL, which are added to messages; nil when the URL has no values.
        var configured: ConfiguredTarget?
    }

    private var actions: [String: [String: Target]] = [:]
    private let connections: Connections

    /// Collects the actions of the modules whose routes are registered in code.
    init(in table: RouteTable<Target>, _ connections: Connections) {
        self.connections = connections
        for (_, target) in table.entries {
            guard let description = target.routeDescription, let module = description.module,
                let action = description.action
            else { continue }
            self.actions[ModuleName(module).schemeKey, default: [:]][action] = target
        }
    }

    /// Returns the target of an entry's messages among the routes bound so far, or nil if it does not exist.
    func find(
        for entry: RouteConfiguration.Entry,
        _ pattern: RoutePattern,
        of configured: Configured,
        in table: RouteTable<Target>
    ) throws(RoutingError) -> Found? {
        guard !entry.target.isEmpty else {
            throw RoutingError(
                .invalidPattern,
                url: entry.pattern,
                message:
                    "the target is empty; it must be an action of a module, a URL, or the name of a destination"
            )
        }
        if let destination = configured.destinations[entry.target] {
            return Found(target: .handler(destination))
        }
        if entry.isURL { return try self.find(entry.target, for: pattern, in: table) }
        // A selector, for example `detail:` or `detail:in:`, names the action whose base name precedes the
        // first colon.
        let target = entry.target.prefix { $0 != ":" }
        let names = target.split(separator: ".", omittingEmptySubsequences: false)
        let action =
            names.count == 2
            ? self.actions[ModuleName(String(names[0])).schemeKey]?[String(names[1])]
            : self.actions[ModuleName(pattern.scheme).schemeKey]?[String(target)]
        return action.map { Found(target: $0) }
    }

    private func find(
        _ url: String,
        for pattern: RoutePattern,
        in table: RouteTable<Target>
    ) throws(RoutingError) -> Found? {
        let address = try table.address(of: url)
        if let match = (try? table.match(url)) ?? nil, let found = table[match] {
            let names = Set(pattern.parameters.map(\.name))
            let values = ConfiguredTarget.values(in: match.parameters, names: names)
            let behind = found.group?.configured
            let configured = values.isEmpty ? behind : ConfiguredTarget.values(values).before(behind)
            return Found(target: found, configured: configured)
        }
        return self.connections[address.scheme].map {
            Found(target: .handler($0.handler), configured: .connected(url))
        }
    }
}

extension RouteConfiguration.Entry {
    /// The pattern and the target, without the position.
    var withoutSource: Self { Self(pattern: self.pattern, target: self.target) }

    /// Whether the target is a URL and not a name.
    var isURL: Bool { self.target.contains("://") }
}

extension RoutingError {
    /// Returns the failure of a message to a configured route whose target is not registered.
    static func unbound(_ entry: RouteConfiguration.Entry) -> Self {
        let target = "the target `\(entry.target.onShortLine)` of this route"
        let message =
            entry.isURL
            ? "no route and no connector handles \(target) (\(entry.source))"
            : "\(target) is not registered (\(entry.source)); is the module installed?"
        return Self(.noHandler, message: message)
    }
}
