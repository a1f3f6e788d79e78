package import WaybillRouting

// For the product that makes services when they are asked for, and takes them down again.
extension MessageBus {
    /// Says that a service is made on demand.
    ///
    /// - Parameters:
    ///   - service: the protocol.
    ///   - name: which provider it is, if there are several.
    ///   - maker: makes the service; ``maker(of:named:as:)`` returns it.
    ///   - fileID: where it is said, for the message of a conflict.
    ///   - line: where it is said, for the message of a conflict.
    /// - Returns: what removes the service.
    /// - Throws: `conflict` if the protocol has a provider of that name, `shutDown`.
    package func provideOnDemand<Service: Sendable>(
        _ service: Service.Type,
        named name: String?,
        by maker: some Sendable,
        _ fileID: String,
        _ line: Int
    ) throws(RoutingError) -> Registration {
        let offer = ServiceOffer(ServiceKey(service, name), .onDemand(maker))
        return try self.core.offer([offer], fileID, line)[0]
    }

    /// What makes a service on demand, or what it is adapted from.
    ///
    /// - Throws: `noHandler` if nothing does, `infiniteRecursion` for adapters that lead back to where they
    ///   began.
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

/// What makes services on demand, and can be asked for what makes them as another protocol.
package protocol AdaptableMaker: Sendable {
    /// What makes the same and adapts it; nil if this does not make `Provided`.
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
            let maker = try self.maker(for: source.with(name: key.name), chain + [key])
            return (maker as? any AdaptableMaker).flatMap(adapt)
        case .maker: return nil
        }
    }
}
