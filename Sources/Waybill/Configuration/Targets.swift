internal import WaybillRouting

/// What the targets of a configuration can name: the actions of modules, destinations, and URLs.
struct Targets {
    /// What handles an entry's messages.
    struct Found {
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
            self.actions[Self.stem(of: module), default: [:]][action] = handler
        }
    }

    /// What handles an entry's messages; nil if it is not there.
    ///
    /// - Throws: `invalidPattern`, and `invalidURL` for a target that is a URL and cannot be read.
    func find(
        for entry: RouteConfiguration.Entry,
        in table: RouteTable<Handler>,
        _ connections: Connections
    ) throws(RoutingError) -> Found? {
        if let destination = self.destinations[entry.target] { return Found(handler: destination) }
        let pattern = try table.pattern(entry.pattern)
        if entry.isURL { return try Self.find(entry.target, pattern, in: table, connections) }
        let names = entry.target.split(separator: ".", omittingEmptySubsequences: false)
        let action =
            names.count == 2
            ? self.actions[Self.stem(of: String(names[0]))]?[String(names[1])]
            : self.actions[Self.stem(of: pattern.scheme)]?[entry.target]
        return action.map { Found(handler: $0) }
    }

    private static func find(
        _ url: String,
        _ pattern: RoutePattern,
        in table: RouteTable<Handler>,
        _ connections: Connections
    ) throws(RoutingError) -> Found? {
        let address = try table.address(of: url)
        if let match = (try? table.match(url)) ?? nil, let handler = table[match] {
            let values = ConfiguredTarget.values(
                in: match.parameters,
                names: Set(pattern.parameters.map(\.name))
            )
            let behind = handler.ensemble?.target
            let target = values.isEmpty ? behind : ConfiguredTarget.values(values).before(behind)
            return Found(handler: handler, target: target)
        }
        return connections[address.scheme].map { Found(handler: $0.handler, target: .connected(url)) }
    }

    /// The name of a module as a scheme may name it: `order` for `OrderModule`.
    private static func stem(of module: String) -> String {
        var name = module.split(separator: ".").last.map(String.init) ?? module
        for ending in ["Module", "Controller"] where name.hasSuffix(ending) && name != ending {
            name.removeLast(ending.count)
            break
        }
        return name.lowercased()
    }
}

extension RouteConfiguration.Entry {
    /// Whether the target is a URL, and not a name.
    var isURL: Bool { self.target.contains("://") }
}

extension RoutingError {
    /// What befalls a message to a route of a configuration whose target is not there.
    static func unbound(_ entry: RouteConfiguration.Entry) -> Self {
        let target = "its target `\(entry.target.onShortLine)`"
        let message =
            entry.isURL
            ? "no route and no connector takes \(target) (\(entry.source))"
            : "\(target) is not there (\(entry.source)); is the module installed?"
        return Self(.noHandler, message: message)
    }
}
