internal import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Has a service made on demand.
    ///
    /// - Parameters:
    ///   - service: the protocol.
    ///   - name: which provider it is, if there are several.
    ///   - router: makes the service.
    ///   - fileID: where it is said, for the message of a conflict.
    ///   - line: where it is said, for the message of a conflict.
    /// - Returns: what takes the router out again; what it has made stays.
    /// - Throws: `conflict` if the protocol has a provider of that name, `shutDown`.
    @discardableResult
    public func provide<Router: ServiceRouter>(
        _ service: Router.Destination.Type,
        named name: String? = nil,
        by router: Router,
        fileID: String = #fileID,
        line: Int = #line
    ) throws(RoutingError) -> Registration {
        let box = RouterBox<Router.Destination>(router: router)
        let offer = ServiceOffer(ServiceKey(service, name), .router(box))
        return try self.core.offer([offer], fileID, line)[0]
    }

    /// A service that is to be made on demand.
    ///
    /// - Parameters:
    ///   - service: the protocol.
    ///   - name: which provider, if there are several.
    ///   - configure: says what is wanted of it; called at once.
    /// - Returns: what makes it, once or several times.
    /// - Throws: `noHandler` if no router makes the service.
    public func performance<Destination: Sendable>(
        of service: Destination.Type,
        named name: String? = nil,
        _ configure: (inout PerformConfiguration<Destination>) -> Void = { _ in }
    ) throws(RoutingError) -> Performance<Destination> {
        let key = ServiceKey(service, name)
        let offer = try self.core.offer(for: key)
        guard case .router(let box) = offer.source, let box = box as? RouterBox<Destination> else {
            throw .notMadeOnDemand(key)
        }
        var configuration = PerformConfiguration<Destination>()
        configure(&configuration)
        return Performance(box.router, configuration, self.core)
    }

    /// Sets what is told about every performance that fails, after those who asked for it; there is one such
    /// handler, the last one set.
    public func registerPerformFailed(_ handler: @escaping @Sendable (RoutingError) -> Void) {
        let old = self.core.performFailed.withLock { current in
            defer { current = handler }
            return current
        }
        _ = consume old
    }
}

/// A router, as the register holds it.
private final class RouterBox<Destination: Sendable>: Sendable {
    let router: any ServiceRouter<Destination>

    init(router: any ServiceRouter<Destination>) { self.router = router }
}

extension BusCore {
    func tellPerformFailed(_ error: RoutingError) {
        let handler = self.performFailed.withLock { $0 }
        handler?(error)
    }
}
