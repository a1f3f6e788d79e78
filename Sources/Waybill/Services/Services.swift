internal import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Returns a proxy for the provider of a service, which the protocol of the service identifies.
    ///
    /// ```swift
    /// let clock = try bus.service((any TimeService).self)
    /// let noon = try await clock.time(in: "Oslo")
    /// ```
    ///
    /// A call of the proxy is a message, which passes through middlewares and mailboxes. The proxy is cheap,
    /// and you can keep it and use it on any thread. After the provider is uninstalled, calls fail with
    /// `noRoute`. The proxy does not keep the bus alive.
    ///
    /// - Parameters:
    ///   - service: The protocol.
    ///   - name: The name of the provider, if the service has several providers.
    ///   - timeout: The maximum duration of each call; nil when only the caller's deadline limits the call.
    /// - Returns: A proxy for the provider, or the result of an adapter.
    /// - Throws: `noHandler` with the names of the existing services, `infiniteRecursion` for adapters that
    ///   need one another, or `shutDown`.
    public func service<Service: Sendable>(
        _ service: Service.Type,
        named name: String? = nil,
        timeout: Duration? = nil
    ) throws(RoutingError) -> Service {
        try self.core.service(service, ServiceWish(name: name, timeout: timeout))
    }

    /// Registers a service whose provider is, for example, in another process that a connector reaches.
    ///
    /// ```swift
    /// try bus.connect("memo", to: WorldClock())
    /// try bus.provide((any TimeService).self, at: "memo://time") { TimeServiceProxy($0) }
    /// ```
    ///
    /// - Parameters:
    ///   - service: The protocol.
    ///   - url: The base URL of the service's methods.
    ///   - name: The name of the provider, if the service has several providers.
    ///   - fileID: The source file of the registration, for the text of a `conflict` error.
    ///   - line: The source line of the registration, for the text of a `conflict` error.
    ///   - proxy: A closure that makes the proxy that callers receive.
    /// - Returns: A registration that can remove the service.
    /// - Throws: `conflict` if the protocol already has a provider of that name, or `shutDown`.
    @discardableResult
    public func provide<Service: Sendable>(
        _ service: Service.Type,
        at url: String,
        named name: String? = nil,
        fileID: String = #fileID,
        line: Int = #line,
        proxy: @escaping @Sendable (ServiceEndpoint) -> Service
    ) throws(RoutingError) -> Registration {
        let offer = ServiceOffer(key: ServiceKey(service, name), source: .proxy(at: url, proxy))
        return try self.core.offer([offer], fileID: fileID, line: line)[0]
    }

    /// Provides a service by adapting the provider of another service, whose protocols need not know each
    /// other.
    ///
    /// ```swift
    /// try bus.adapt((any Clock).self, from: (any TimeService).self) { time in ClockAdapter(time) }
    /// ```
    ///
    /// The provider can itself be the result of an adapter. An adapter serves all names: a request for a
    /// provider by name returns the adapted provider of that name.
    ///
    /// - Parameters:
    ///   - required: The protocol that callers request.
    ///   - provided: The protocol that a module provides, now or later.
    ///   - fileID: The source file of the registration, for the text of a `conflict` error.
    ///   - line: The source line of the registration, for the text of a `conflict` error.
    ///   - adapter: A closure that makes a `Required` from a `Provided`, for each request of the service and
    ///     on the caller's thread.
    /// - Returns: A registration that can remove the adapter.
    /// - Throws: `conflict` if the protocol already has a provider, or `shutDown`. The bus detects adapters
    ///   that need one another when a service is requested, and in ``validate(urls:services:)``.
    @discardableResult
    public func adapt<Required: Sendable, Provided: Sendable>(
        _ required: Required.Type,
        from provided: Provided.Type,
        fileID: String = #fileID,
        line: Int = #line,
        _ adapter: @escaping @Sendable (Provided) -> Required
    ) throws(RoutingError) -> Registration {
        let maker = ServiceMaker<Required> { core, wish throws(RoutingError) in
            adapter(try core.service(provided, wish))
        }
        let source = ServiceOffer.Source.adapter(maker, from: ServiceKey(provided)) {
            $0.adapted(by: adapter)
        }
        let offer = ServiceOffer(key: ServiceKey(required), source: source)
        return try self.core.offer([offer], fileID: fileID, line: line)[0]
    }
}

extension BusCore {
    /// Adds services: either all of the services or none.
    func offer(_ offers: [ServiceOffer], fileID: String, line: Int) throws(RoutingError) -> [Registration] {
        if offers.isEmpty { return [] }
        let replaces = self.configuration.conventions.sameShape == .replaces
        let (ids, _) = try self.services.withLock { register throws(RoutingError) in
            // Check the phase under the lock, so that the shutdown finds all services that are added.
            try self.checkOpen(for: "")
            var next = register
            let ids = try offers.map { offer throws(RoutingError) in
                try next.add(offer, fileID: fileID, line: line, replaces: replaces)
            }
            // The services that are replaced must be released outside of the lock.
            return (ids, Swift.exchange(&register, with: next))
        }
        return zip(offers, ids).map { offer, id in
            Registration(pattern: "\(offer.key)") { _ = self.services.withLock { $0.remove(id) } }
        }
    }

    func service<Service: Sendable>(
        _ type: Service.Type,
        _ wish: ServiceWish
    ) throws(RoutingError) -> Service {
        let key = ServiceKey(type, wish.name)
        if wish.chain.contains(key) { throw .cycle(wish.chain, key) }
        let offer = try self.offer(for: key, wish.chain)
        var wish = wish
        wish.chain.append(key)
        switch offer.source {
        case .maker(let maker), .adapter(let maker, from: _, adapt: _):
            guard let maker = maker as? ServiceMaker<Service> else {
                throw .typeMismatch(url: "", wanted: type, found: maker, origin: "the provider is")
            }
            return try maker.make(self, wish)
        case .onDemand: throw .madeOnDemand(key)
        }
    }

    func offer(for key: ServiceKey, _ chain: [ServiceKey] = []) throws(RoutingError) -> ServiceOffer {
        try self.services.withLock { register throws(RoutingError) in
            if let offer = register.offer(for: key) { return offer }
            try self.checkOpen(for: "")
            throw .noService(key, provided: register.keys, chain: chain)
        }
    }
}
