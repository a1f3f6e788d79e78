internal import WaybillRouting

/// What the targets of a configuration can name: the actions of modules, and destinations.
struct Targets {
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
    /// - Throws: `invalidURL` for a target that is the URL of a route and cannot be read.
    func handler(
        for entry: RouteConfiguration.Entry,
        in table: RouteTable<Handler>
    ) throws(RoutingError) -> Handler? {
        if let destination = self.destinations[entry.target] { return destination }
        if entry.target.contains("://") {
            guard let match = try table.match(entry.target) else { return nil }
            return table[match]
        }
        let names = entry.target.split(separator: ".", omittingEmptySubsequences: false)
        if names.count == 2 { return self.actions[Self.stem(of: String(names[0]))]?[String(names[1])] }
        let scheme = try table.pattern(entry.pattern).scheme
        return self.actions[Self.stem(of: scheme)]?[entry.target]
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

extension RoutingError {
    /// What befalls a message to a route of a configuration whose target is not there.
    static func unbound(_ entry: RouteConfiguration.Entry) -> Self {
        Self(
            .noHandler,
            message: "its target `\(entry.target)` is not there (\(entry.source)); is the module installed?"
        )
    }
}
