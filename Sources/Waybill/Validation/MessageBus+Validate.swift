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
    /// - routes without a handler (`noHandler`): of a configuration whose target is not there, or of a loop
    ///   that has been shut down; also a target that its connector does not know;
    /// - routes of a configuration that give a value under one name to an action that needs it under another
    ///   (`missingParameter`, naming both);
    /// - patterns that no URL reaches, because another takes all of them (`conflict`, naming the rival and a
    ///   URL);
    /// - services that the program needs and nobody provides (`noHandler`), those whose methods have no route
    ///   (`noRoute`), and adapters that need one another in a circle (`infiniteRecursion`, naming all of
    ///   them);
    /// - URLs that lead nowhere (`noRoute`, `invalidURL`): those that are passed, and their return URLs.
    ///
    /// Patterns are tried with made-up URLs, 16 each, so one that is reached by a very rare value only is
    /// found to be in conflict.
    ///
    /// - Parameters:
    ///   - urls: URLs that the program is known to route, or to give as return URLs.
    ///   - services: the protocols that the program asks for: `(any TimeService).self`. One provider is
    ///     enough, whatever its name.
    /// - Returns: the problems; none is what one hopes for.
    public func validate(urls: [String] = [], services: [any Any.Type] = []) -> [RoutingError] {
        self.core.routesWithoutHandler() + self.core.problemsWithTargets() + self.core.unreachablePatterns()
            + self.core.problemsWithServices(services)
            + urls.flatMap { self.core.problems(with: $0) }
    }

    /// What is wrong with services that are known by the names of their protocols, each once.
    package func validate(serviceNames: [String]) -> [RoutingError] {
        self.core.services.withLock { register in
            serviceNames.compactMap { register.problem(withServiceNamed: $0) }
        }
    }
}
