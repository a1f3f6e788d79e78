package import WaybillRouting

// The interface for `WaybillPerformances`, which makes services on demand and releases them again.
extension MessageBus {
    /// Registers a service that `maker` makes anew for each request.
    ///
    /// - Throws: `conflict` if the protocol already has a provider of that name, or `shutDown`.
    package func provideOnDemand<Service: Sendable>(
        _ service: Service.Type,
        named name: String?,
        by maker: some Sendable,
        fileID: String,
        line: Int
    ) throws(RoutingError) -> Registration {
        let offer = ServiceOffer(key: ServiceKey(service, name), source: .onDemand(maker))
        return try self.core.offer([offer], fileID: fileID, line: line)[0]
    }

    /// Returns the object that makes a service on demand, and also adapts it if an adapter provides the
    /// service.
    ///
    /// - Throws: `noHandler` if no object makes the service, or `infiniteRecursion` for adapters that need
    ///   one another.
    package func maker<Service: Sendable, Maker: Sendable>(
        of service: Service.Type,
        named name: String?,
        as type: Maker.Type
    ) throws(RoutingError) -> Maker {
        let key = ServiceKey(service, name)
        guard let maker = try self.core.maker(for: key) as? Maker else { throw .notMadeOnDemand(key) }
        return maker
    }
}

/// An object that makes services on demand and can adapt them to another protocol.
package protocol AdaptableMaker: Sendable {
    /// Returns an object that also adapts the service, or nil if this object does not make a `Provided`.
    func adapted<Provided: Sendable, Required: Sendable>(
        by adapter: @escaping @Sendable (Provided) -> Required
    ) -> (any Sendable)?
}

extension BusCore {
    fileprivate func maker(
        for key: ServiceKey,
        _ chain: [ServiceKey] = []
    ) throws(RoutingError) -> (any Sendable)? {
        if chain.contains(key) { throw .cycle(chain, key) }
        let offer = try self.offer(for: key, chain)
        switch offer.source {
        case .onDemand(let maker): return maker
        case .adapter(_, let source, let adapt):
            let maker = try self.maker(for: source.named(key.name), chain + [key])
            return (maker as? any AdaptableMaker).flatMap(adapt)
        case .maker: return nil
        }
    }
}
