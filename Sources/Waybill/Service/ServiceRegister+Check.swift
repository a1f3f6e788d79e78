internal import WaybillRouting

extension ServiceRegister {
    /// What is wrong with a service that somebody needs, under whatever name it is provided; nil if it can be
    /// had.
    func problem(with key: ServiceKey) -> RoutingError? {
        self.problem(with: key) { $0.isOfSameType(as: key) }
    }

    /// The same for a service whose protocol has a name, as a command line may say it.
    func problem(withServiceNamed name: String) -> RoutingError? {
        self.problem(with: name) { $0.typeName == name || $0.typeName == "any \(name)" }
    }

    private func problem(
        with key: some CustomStringConvertible,
        isMeant: (ServiceKey) -> Bool
    ) -> RoutingError? {
        let ways = self.offers.filter { isMeant($0.key) }
        if ways.isEmpty { return .noService(key, provided: self.keys) }
        // Of several providers one is enough, and the first that cannot be had says why none can.
        let problems = ways.map { self.problem(along: [$0.key], at: $0) }
        return problems.contains { $0 == nil } ? nil : problems.first ?? nil
    }

    /// What is wrong with the adapters, each once.
    func problemsWithAdapters() -> [RoutingError] {
        var seen: Set<ServiceKey> = []
        var problems: [RoutingError] = []
        for offer in self.offers where !seen.contains(offer.key) {
            guard let problem = self.problem(along: [offer.key], at: offer) else { continue }
            if problem.code == .infiniteRecursion { seen.formUnion(self.chain(from: offer)) }
            // Adapters of adapters lack what those lack.
            if !problems.contains(where: { $0.message == problem.message }) { problems.append(problem) }
        }
        return problems
    }

    var keys: [ServiceKey] { self.offers.map(\.key) }

    private func problem(along chain: [ServiceKey], at offer: ServiceOffer) -> RoutingError? {
        guard case .adapter(_, from: let source) = offer.source else { return nil }
        let key = source.with(name: chain.last?.name)
        if chain.contains(key) { return .cycle(chain, key) }
        guard let next = self.offer(for: key) ?? self.offers.first(where: { $0.key.isOfSameType(as: key) })
        else { return .noService(key, provided: self.keys, chain: chain) }
        return self.problem(along: chain + [key], at: next)
    }

    /// What an adapter leads to, until it leads back.
    private func chain(from offer: ServiceOffer) -> [ServiceKey] {
        var chain = [offer.key]
        var next: ServiceOffer? = offer
        while case .adapter(_, from: let source) = next?.source, !chain.contains(source) {
            chain.append(source)
            next = self.offer(for: source)
        }
        return chain
    }
}
