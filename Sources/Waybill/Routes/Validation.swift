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
    /// - routes without a handler (`noHandler`): configured routes whose target is not registered or is
    ///   unknown to its connector, and routes whose loops have been shut down;
    /// - configured routes that give a value under one name to an action that needs it under another name
    ///   (`missingParameter`, naming both);
    /// - patterns that no URL reaches, because another pattern matches all of their URLs (`conflict`, naming
    ///   the other pattern and a URL);
    /// - services that the program needs and no module provides (`noHandler`), services whose methods have no
    ///   route (`noRoute`), and adapters that need one another in a circle (`infiniteRecursion`, naming all
    ///   of them);
    /// - routes that are shared with other nodes of a cluster and declare values that are not `Codable`
    ///   (`notTransferable`), as far as their types are known;
    /// - URLs that lead nowhere (`noRoute`, `invalidURL`), among the given URLs and their return URLs.
    ///
    /// Each pattern is tried with 16 generated URLs. A pattern that only a very rare value reaches is
    /// therefore reported as a conflict.
    ///
    /// - Parameters:
    ///   - urls: URLs that the program routes or uses as return URLs.
    ///   - services: The protocols of the services that the program needs, for example
    ///     `(any TimeService).self`. One provider with any name is sufficient.
    /// - Returns: The problems; empty if there are none.
    public func validate(urls: [String] = [], services: [any Any.Type] = []) -> [RoutingError] {
        self.core.routesWithoutHandler() + self.core.problemsWithTargets() + self.core.unreachablePatterns()
            + self.core.problemsWithServices(services) + self.core.problemsWithShares()
            + urls.flatMap { self.core.problems(with: $0) }
    }

    /// Returns the problems with services that are given by the names of their protocols, at most one for
    /// each service.
    package func validate(serviceNames: [String]) -> [RoutingError] {
        self.core.services.withLock { register in
            serviceNames.compactMap { register.problem(withServiceNamed: $0) }
        }
    }
}

extension BusCore {
    /// Returns an error for each route without a handler.
    func routesWithoutHandler() -> [RoutingError] {
        let problems = try? self.registry.withTable { table throws(RoutingError) in
            table.routes.compactMap { route -> RoutingError? in
                guard let target = table.handler(for: route.id) else { return nil }
                let pattern = route.pattern.text
                if case .unbound(let entry) = target.description {
                    let error = RoutingError.unbound(entry)
                    return RoutingError(error.code, url: pattern, message: error.message)
                }
                let hasStopped = target.members.allSatisfy { $0.mailbox.eventLoop.isShutDown || $0.isGone }
                return hasStopped
                    ? RoutingError(
                        .noHandler,
                        url: pattern,
                        message: RoutingError.loopShutDown(url: "").message
                    )
                    : nil
            }
        }
        return problems ?? []
    }

    /// Returns an error for each configured route whose target cannot handle its messages.
    func problemsWithTargets() -> [RoutingError] {
        let routes = self.configured.withLock { $0.boundRoutes }
        let problems = routes.compactMap { entry, bound -> RoutingError? in
            if let url = bound.configured?.connectedURL {
                guard !self.registry.reach(url).isPossible else { return nil }
                let message = "the connector does not know its target `\(url.onShortLine)` (\(entry.source))"
                return RoutingError(.noHandler, url: entry.pattern, message: message)
            }
            return self.missingParameters(of: entry, bound)
        }
        return problems.sorted { $0.url < $1.url }
    }

    /// Returns an error when an action needs a parameter that the pattern gives under another name.
    ///
    /// A parameter that neither the pattern nor the target gives may come with the query, so its absence
    /// alone is not a problem. A value that the pattern gives and the action does not read was probably meant
    /// for that parameter.
    private func missingParameters(
        of entry: RouteConfiguration.Entry,
        _ bound: Configured.Bound
    ) -> RoutingError? {
        guard let description = bound.source?.routeDescription?.described(by: "", target: bound.configured),
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

    private static func list(_ names: [String]) -> String {
        names.map { "`\($0)`" }.joined(separator: ", ")
    }

    /// Returns an error for each pattern whose URLs are all matched by other patterns.
    func unreachablePatterns() -> [RoutingError] {
        let problems = try? self.registry.withTable { table throws(RoutingError) in
            table.shadowed().map { route, rival, url in
                RoutingError(
                    .conflict,
                    url: route.pattern.text,
                    message:
                        "no URL can reach this route: \(url), for example, is delivered to `\(rival.pattern)` (\(rival.fileID):\(rival.line))"
                )
            }
        }
        return problems ?? []
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
}

extension BusCore {
    /// Returns the problems with the registered services and with the services that the program needs.
    func problemsWithServices(_ needed: [any Any.Type]) -> [RoutingError] {
        let (problems, urls) = self.services.withLock { register in
            var problems = register.problemsWithAdapters()
            for service in needed {
                // A service that its adapter needs is reported with the adapters.
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
