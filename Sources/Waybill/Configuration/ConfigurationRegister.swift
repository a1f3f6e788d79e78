internal import WaybillRouting

/// The configurations that a bus has loaded, in the order in which their names were first loaded.
///
/// To bind a route means to register its pattern with the target that the configuration names. Each change
/// binds the routes of all configurations again, because a configuration may lead to a route of another
/// configuration, or hide that route.
struct ConfigurationRegister: Sendable {
    private var configurations: [Configured] = []
    /// The IDs of routes from code that are no longer hidden, by the IDs of their registrations.
    private var restored: [RouteID: RouteID] = [:]

    var isEmpty: Bool { self.configurations.isEmpty }

    /// Returns whether configured routes lead, or could now lead, to any of the given routes.
    func leads(to changed: [Target], in table: RouteTable<Target>) -> Bool {
        if changed.contains(where: { $0.routeDescription != nil }) { return true }
        let changes = Set(changed.map(\.identity))
        return self.configurations.contains { configured in
            configured.configuration.entries.contains { entry in
                guard entry.isURL else { return false }
                let match = (try? table.match(entry.target)) ?? nil
                let targets = [match.flatMap { table[$0] }, configured.routes[entry]?.found?.target]
                return targets.contains { $0.map { changes.contains($0.identity) } ?? false }
            }
        }
    }

    var boundRoutes: [(key: RouteConfiguration.Entry, value: Configured.Bound)] {
        self.configurations.flatMap { Array($0.routes) }
    }

    /// The targets of the routes that were registered in code and that configured routes currently hide.
    var hiddenTargets: [Target] { self.boundRoutes.flatMap { $0.value.hidden.map(\.target) } }

    /// Adds a configuration, or replaces the configuration with the same name.
    mutating func put(_ next: Configured) {
        guard let index = self.configurations.firstIndex(where: { $0.name == next.name }) else {
            self.configurations.append(next)
            return
        }
        var next = next
        next.routes = self.configurations[index].routes
        self.configurations[index] = next
    }
}

extension ConfigurationRegister {
    /// Binds the routes of all configurations anew, and returns the targets that no longer have a route.
    mutating func bind(
        in table: inout RouteTable<Target>,
        _ connections: Connections,
        _ core: BusCore
    ) throws(ConfigurationError) -> [Target] {
        let old = self.configurations.map(\.routes)
        // A route whose line has moved in its file keeps its target, so that callers continue to wait.
        let earlier = old.map { routes in
            Dictionary(routes.map { ($0.withoutSource, $1) }, uniquingKeysWith: { first, _ in first })
        }
        let dropped = try self.takeOut(of: &table)
        let targets = Targets(in: table, connections)
        for (index, configured) in self.configurations.enumerated() {
            for entry in configured.configuration.entries
            where self.configurations[index].routes[entry] == nil && !configured.overridden.contains(entry) {
                do throws(RoutingError) {
                    let pattern = try configured.pattern(of: entry, in: table)
                    let found = try targets.find(for: entry, pattern, of: configured, in: table)
                    let target = core.target(of: entry, found, keeping: earlier[index][entry.withoutSource])
                    let bound = try self.insert(
                        target,
                        for: entry,
                        at: pattern,
                        of: configured,
                        from: found,
                        in: &table
                    )
                    self.configurations[index].routes[entry] = bound
                } catch {
                    throw ConfigurationError(entry.source, error.message, cause: error)
                }
            }
            self.configurations[index].isBound = true
        }
        self.followURLs(in: &table, targets, core, keeping: earlier)
        let kept = Set(self.boundRoutes.map(\.value.target.identity))
        let before = old.flatMap { $0.values.map(\.target) }
        return before.filter { !kept.contains($0.identity) } + dropped
    }

    /// Finds the targets again of the entries that lead to URLs, because a later entry may handle such a URL.
    private mutating func followURLs(
        in table: inout RouteTable<Target>,
        _ targets: Targets,
        _ core: BusCore,
        keeping earlier: [[RouteConfiguration.Entry: Configured.Bound]]
    ) {
        typealias Place = (index: Int, entry: RouteConfiguration.Entry)
        var places: [(id: RouteID, place: Place)] = []
        for (index, configured) in self.configurations.enumerated() {
            for entry in configured.configuration.entries where entry.isURL {
                if let id = configured.routes[entry]?.id { places.append((id, (index, entry))) }
            }
        }
        var open = Dictionary(places) { first, _ in first }
        for (start, _) in places {
            // The entry, the entry that handles its URL, the entry that handles the URL of this entry, ...
            var chain: [(id: RouteID, place: Place)] = []
            var next: RouteID? = start
            while let id = next, let place = open.removeValue(forKey: id) {
                next = ((try? table.match(place.entry.target)) ?? nil)?.route
                // A route that matches its own target leads to the route that it hides, or to no route.
                if let next, next != id { chain.append((id, place)) }
            }
            for (id, (index, entry)) in chain.reversed() {
                let configured = self.configurations[index]
                guard let bound = configured.routes[entry],
                    let pattern = try? configured.pattern(of: entry, in: table),
                    let found = try? targets.find(for: entry, pattern, of: configured, in: table)
                else { continue }
                let target = core.target(of: entry, found, keeping: earlier[index][entry.withoutSource])
                table.replaceHandler(of: id, with: target)
                self.configurations[index].routes[entry] =
                    Configured.Bound(id: id, target: target, found: found, hidden: bound.hidden)
            }
        }
    }

    /// Removes the bound routes from a table, and inserts the routes that the bound routes hid.
    ///
    /// Returns the targets of hidden routes that cannot be restored, because code has unregistered or
    /// replaced the configured route, or has registered a route that matches the same URLs.
    private mutating func takeOut(of table: inout RouteTable<Target>) throws(ConfigurationError) -> [Target] {
        var hidden: [HiddenRoute] = []
        var dropped: [Target] = []
        for index in self.configurations.indices {
            for (entry, bound) in self.configurations[index].routes {
                if table.remove(bound.id) != nil {
                    hidden += bound.hidden
                } else {
                    dropped += bound.hidden.map(\.target)
                    if self.configurations[index].isBound {
                        self.configurations[index].overridden.insert(entry)
                    }
                }
            }
            self.configurations[index].routes = [:]
        }
        self.restored = self.restored.filter { table.route($0.value) != nil }
        for hidden in hidden.sorted(by: { $0.route.pattern.text < $1.route.pattern.text }) {
            let route = hidden.route
            guard !table.hasRival(of: route.pattern) else {
                dropped.append(hidden.target)
                continue
            }
            do throws(RoutingError) {
                self.restored[hidden.id] = try table.insert(
                    route.pattern,
                    hidden.target,
                    fileID: route.fileID,
                    line: route.line
                )
            } catch {
                throw ConfigurationError(RouteConfiguration.Source(), error.message, cause: error)
            }
        }
        return dropped
    }

    /// Inserts a configured route.
    ///
    /// With conventions that replace routes, the new route hides existing routes whose patterns match the
    /// same URLs.
    private mutating func insert(
        _ target: Target,
        for entry: RouteConfiguration.Entry,
        at pattern: RoutePattern,
        of configured: Configured,
        from found: Targets.Found?,
        in table: inout RouteTable<Target>
    ) throws(RoutingError) -> Configured.Bound {
        var hidden: [HiddenRoute] = []
        if table.conventions.sameShape == .replaces {
            for rival in table.removeRivals(of: pattern) { hidden += self.hide(rival.route, rival.handler) }
        }
        let name = configured.name.isEmpty ? "configuration" : "configuration `\(configured.name)`"
        let id = try table.insert(
            pattern,
            target,
            fileID: entry.source.file.isEmpty ? name : entry.source.file,
            line: entry.source.line ?? 0
        )
        return Configured.Bound(id: id, target: target, found: found, hidden: hidden)
    }

    /// Returns the routes that are hidden when a route is removed.
    ///
    /// The result is the route itself if it was registered in code. For a configured route, the result is the
    /// routes that it hid.
    private mutating func hide(_ route: Route, _ target: Target) -> [HiddenRoute] {
        for index in self.configurations.indices {
            let bound = self.configurations[index].routes.first { $0.value.id == route.id }
            guard let bound else { continue }
            self.configurations[index].routes[bound.key] = nil
            return bound.value.hidden
        }
        let registered = self.restored.first { $0.value == route.id }?.key
        if let registered { self.restored[registered] = nil }
        return [HiddenRoute(id: registered ?? route.id, route: route, target: target)]
    }

    /// Removes a route from code that is hidden or was restored, by the ID of the route's registration.
    mutating func removeHidden(_ id: RouteID, from table: inout RouteTable<Target>) -> Target? {
        if let present = self.restored.removeValue(forKey: id) { return table.remove(present) }
        for index in self.configurations.indices {
            for (entry, bound) in self.configurations[index].routes {
                guard let place = bound.hidden.firstIndex(where: { $0.id == id }) else { continue }
                return self.configurations[index].routes[entry]?.hidden.remove(at: place).target
            }
        }
        return nil
    }
}

/// A route that was registered in code and that a configured route has replaced.
struct HiddenRoute: Sendable {
    /// The ID of the route's registration.
    let id: RouteID
    let route: Route
    let target: Target
}
