internal import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Checks the configuration of the bus without delivering a message, and returns all problems.
    ///
    /// Call this method when everything is registered, before the first message:
    ///
    /// ```swift
    /// let problems = bus.validate(urls: ["app://order/pay?total=1#home/receipt"])
    /// guard problems.isEmpty else { fatalError(problems.map(\.description).joined(separator: "\n")) }
    /// ```
    ///
    /// The method reports:
    /// - routes without a handler (`noHandler`): routes whose loops have been shut down, and configured
    ///   routes whose target is not registered or is rejected by its connector;
    /// - configured routes that supply a value under one name to an action that needs the value under another
    ///   name (`missingParameter`, with both names);
    /// - patterns that no URL reaches, because other patterns match all of their URLs (`conflict`, with the
    ///   other pattern and a URL);
    /// - services that the program needs and no module provides (`noHandler`), services whose methods have no
    ///   route (`noRoute`), and adapters that need one another in a circle (`infiniteRecursion`, with all of
    ///   these adapters);
    /// - routes that are shared with other processes of a cluster and declare values that are not `Codable`
    ///   (`notTransferable`), as far as the types of the values are known;
    /// - URLs without a destination (`noRoute`, `invalidURL`), among the given URLs and their return URLs.
    ///
    /// The method tries each pattern with 16 generated URLs. A pattern that only a very rare URL reaches is
    /// therefore reported as a conflict.
    ///
    /// - Parameters:
    ///   - urls: URLs that the program routes or uses as return URLs.
    ///   - services: The protocols of the services that the program needs, for example `(any
    ///     TimeService).self`. One provider of a service is sufficient, whatever its name.
    /// - Returns: The problems; empty when the bus has no problems.
    public func validate(urls: [String] = [], services: [any Any.Type] = []) -> [RoutingError] {
        self.core.routesWithoutHandler() + self.core.problemsWithTargets() + self.core.unreachablePatterns()
            + self.core.problemsWithServices(services) + self.core.problemsWithShares()
            + urls.flatMap { self.core.problems(with: $0) }
    }

    /// Returns the problems with the services whose protocols have the given names, at most one for each
    /// service.
    package func validate(serviceNames: [String]) -> [RoutingError] {
        self.core.services.withLock { register in
            serviceNames.compactMap { register.problem(withServiceNamed: $0) }
        }
    }
}

extension BusCore {
    func routesWithoutHandler() -> [RoutingError] {
        self.registry.withTable { table in
            table.entries.compactMap { route, target -> RoutingError? in
                let pattern = route.pattern.text
                if case .unbound(let entry) = target.description {
                    let error = RoutingError.unbound(entry)
                    return RoutingError(error.code, url: pattern, message: error.message)
                }
                if target.canBeReached { return nil }
                let message = RoutingError.loopShutDown(url: "").message
                return RoutingError(.noHandler, url: pattern, message: message)
            }
        }
    }

    /// Returns an error for each configured route whose target cannot handle its messages.
    func problemsWithTargets() -> [RoutingError] {
        let routes = self.configured.withLock { $0.boundRoutes }
        let problems = routes.compactMap { entry, bound -> RoutingError? in
            if let url = bound.found?.configured?.connectedURL {
                guard !self.registry.reach(url).isPossible else { return nil }
                let message =
                    "no connector accepts `\(url.onShortLine)`, the target of this route (\(entry.source)): "
                    + "connect the scheme of the target, or correct the target"
                return RoutingError(.noHandler, url: entry.pattern, message: message)
            }
            return self.missingParameters(of: entry, bound)
        }
        return problems.sorted { $0.url < $1.url }
    }

    /// Returns an error when an action needs a parameter that the pattern supplies under another name.
    ///
    /// A missing parameter alone is not a problem, because the query of a URL can supply it. The method
    /// reports a missing parameter only if the pattern also supplies a value that the action does not read.
    /// The author of the configuration probably meant this value for the missing parameter.
    private func missingParameters(
        of entry: RouteConfiguration.Entry,
        _ bound: Configured.Bound
    ) -> RoutingError? {
        guard let found = bound.found,
            let description = found.target.routeDescription?.described(by: "", target: found.configured),
            let pattern = try? self.currentConfiguration.pattern(entry.pattern)
        else { return nil }
        let given = pattern.parameters.map(\.name)
        let missing = description.parameters.filter { $0.isRequired && !given.contains($0.name) }
        let unused = given.filter { name in !description.parameters.contains { $0.name == name } }
        guard !missing.isEmpty, !unused.isEmpty else { return nil }
        let message =
            "`\(entry.target.onShortLine)` needs \(Self.list(missing.map(\.name))), and the pattern provides "
            + "\(Self.list(unused)) (\(entry.source))"
        return RoutingError(.missingParameter, url: entry.pattern, message: message)
    }

    private static func list(_ names: [String]) -> String { names.map { "`\($0)`" }.joined(separator: ", ") }

    /// Returns an error for each pattern whose URLs are all matched by other patterns.
    func unreachablePatterns() -> [RoutingError] {
        self.registry.withTable { table in
            table.shadowed().map { route, rival, url in
                let message =
                    "no URL can reach this route: \(url), for example, is delivered to `\(rival.pattern)` (\(rival.fileID):\(rival.line))"
                return RoutingError(.conflict, url: route.pattern.text, message: message)
            }
        }
    }

    /// Returns the problems with a URL and with its return URLs.
    func problems(with url: String) -> [RoutingError] {
        var problems: [RoutingError] = []
        var next: String? = url
        var hops = 0
        while let url = next, hops <= self.configuration.hopLimit {
            next = nil
            hops += 1
            if case .missing(let error) = self.registry.resolve(url, nil, on: nil).target {
                problems.append(error)
            }
            if let address = try? self.registry.address(of: url), let fragment = address.fragment,
                !fragment.isEmpty
            {
                next = self.returnURL(in: fragment, scheme: address.scheme)
            }
        }
        return problems
    }

    /// Returns the problems with the registered services and with the services that the program needs.
    func problemsWithServices(_ needed: [any Any.Type]) -> [RoutingError] {
        let (problems, urls) = self.services.withLock { register in
            var problems = register.problemsWithAdapters()
            for service in needed {
                // An adapter provides one service with the help of another service. The problem of a needed
                // service is already in the list if it was reported with the adapters.
                guard let problem = register.problem(with: ServiceKey(service)),
                    !problems.contains(where: { $0.message == problem.message }),
                    problem.code != .infiniteRecursion || problems.isEmpty
                else { continue }
                problems.append(problem)
            }
            return (problems, register.offers.flatMap(\.urls))
        }
        return problems + urls.flatMap { self.problems(with: $0) }
    }
}
