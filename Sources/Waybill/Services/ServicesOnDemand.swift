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

    /// What makes a service on demand.
    ///
    /// - Throws: `noHandler` if nothing does.
    package func maker<Service: Sendable, Maker: Sendable>(
        of service: Service.Type,
        named name: String?,
        as type: Maker.Type
    ) throws(RoutingError) -> Maker {
        let key = ServiceKey(service, name)
        let offer = try self.core.offer(for: key)
        guard case .onDemand(let maker) = offer.source, let maker = maker as? Maker else {
            throw .notMadeOnDemand(key)
        }
        return maker
    }
}
