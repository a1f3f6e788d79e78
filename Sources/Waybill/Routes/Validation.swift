internal import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Looks for what cannot work, without delivering anything: call it when everything is registered, before
    /// the first message.
    ///
    /// ```swift
    /// let problems = bus.validate(urls: ["app://order/pay?total=1#home/receipt"])
    /// guard problems.isEmpty else { fatalError(problems.map(\.description).joined(separator: "\n")) }
    /// ```
    ///
    /// It finds
    /// - routes without a handler (`noHandler`): of a configuration whose target is not registered, or of a
    ///   loop that has been shut down; also a target that its connector does not know;
    /// - routes of a configuration that give a value under one name to an action that needs it under another
    ///   (`missingParameter`, naming both);
    /// - patterns that no URL reaches, because another takes all of them (`conflict`, naming the rival and a
    ///   URL);
    /// - services that the program needs and no module provides (`noHandler`), those whose methods have no
    ///   route (`noRoute`), and adapters that need one another in a circle (`infiniteRecursion`, naming all
    ///   of them);
    /// - routes that are shared with other nodes of a cluster and declare values that are not `Codable`
    ///   (`notTransferable`), as far as their types are known;
    /// - URLs that lead nowhere (`noRoute`, `invalidURL`): those that are passed, and their return URLs.
    ///
    /// Patterns are tried with made-up URLs, 16 each, so one that is reached by a very rare value only is
    /// found to be in conflict.
    ///
    /// - Parameters:
    ///   - urls: URLs that the program is known to route, or to give as return URLs.
    ///   - services: the protocols that the program asks for: `(any TimeService).self`. One provider is
    ///     enough, whatever its name.
    /// - Returns: the problems; empty if there are none.
    public func validate(urls: [String] = [], services: [any Any.Type] = []) -> [RoutingError] {
        self.core.routesWithoutHandler() + self.core.problemsWithTargets() + self.core.unreachablePatterns()
            + self.core.problemsWithServices(services) + self.core.problemsWithShares()
            + urls.flatMap { self.core.problems(with: $0) }
    }

    /// What is wrong with services that are known by the names of their protocols, each once.
    package func validate(serviceNames: [String]) -> [RoutingError] {
        self.core.services.withLock { register in
            serviceNames.compactMap { register.problem(withServiceNamed: $0) }
        }
    }
}

extension BusCore {
    /// The routes without a handler.
    func routesWithoutHandler() -> [RoutingError] {
        let problems = try? self.registry.read { table throws(RoutingError) in
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

    /// The routes of the configuration whose targets cannot do anything with their messages.
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

    /// What an action needs that the pattern calls by another name.
    ///
    /// A parameter that neither the pattern nor the target gives may come with the query, so that alone is no
    /// problem; but a value that the pattern gives, and that the action does not read, is meant for it.
    private func missingParameters(
        of entry: RouteConfiguration.Entry,
        _ bound: Configured.Bound
    ) -> RoutingError? {
        guard let description = bound.source?.routeDescription?.with(pattern: "", target: bound.configured),
            let pattern = try? self.currentConfiguration.pattern(entry.pattern)
        else { return nil }
        let given = pattern.parameters.map(\.name)
        let missing = description.parameters.filter { $0.isRequired && !given.contains($0.name) }
        let unused = given.filter { name in !description.parameters.contains { $0.name == name } }
        guard !missing.isEmpty, !unused.isEmpty else { return nil }
        let message =
            "`\(entry.target.onShortLine)` needs \(Self.list(missing.map(\.name))), and the pattern gives "
            + "\(Self.list(unused)) (\(entry.source))"
        return RoutingError(.missingParameter, url: entry.pattern, message: message)
    }

    private static func list(_ names: [String]) -> String {
        names.map { "`\($0)`" }.joined(separator: ", ")
    }

    /// The patterns that others hide.
    func unreachablePatterns() -> [RoutingError] {
        let problems = try? self.registry.read { table throws(RoutingError) in
            table.shadowed().map { route, rival, url in
                RoutingError(
                    .conflict,
                    url: route.pattern.text,
                    message:
                        "no URL reaches it: \(url), for example, leads to `\(rival.pattern)` (\(rival.fileID):\(rival.line))"
                )
            }
        }
        return problems ?? []
    }

    /// What is wrong with a URL that is going to be routed, and with its return URLs.
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
            if let address = try? self.address(of: url), let fragment = address.fragment, !fragment.isEmpty {
                next = self.returnURL(in: fragment, scheme: address.scheme)
            }
        }
        return problems
    }
}

extension BusCore {
    /// What is wrong with the registered services, and with those that the program needs.
    func problemsWithServices(_ needed: [any Any.Type]) -> [RoutingError] {
        let (problems, urls) = self.services.withLock { register in
            var problems = register.problemsWithAdapters()
            for service in needed {
                // What an adapter of it needs is reported with the adapters.
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
