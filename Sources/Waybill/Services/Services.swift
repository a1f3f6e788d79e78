internal import Synchronization
internal import WaybillEventLoop
public import WaybillRouting

extension MessageBus {
    /// Finds the provider of a service, by its protocol.
    ///
    /// ```swift
    /// let clock = try bus.service((any TimeService).self)
    /// let noon = try await clock.time(in: "Oslo")
    /// ```
    ///
    /// What is returned is a proxy: its calls are messages, which meet middlewares, deadlines and mailboxes,
    /// and are counted. It costs next to nothing and may be kept, on any thread; once the provider is
    /// uninstalled, calls fail with `noRoute`. It does not keep the bus.
    ///
    /// - Parameters:
    ///   - service: the protocol.
    ///   - name: which provider, if there are several.
    ///   - timeout: how long each call may take; nil for as long as its caller may.
    /// - Returns: a proxy for the provider, or what an adapter made of one.
    /// - Throws: `noHandler` that says which services there are, `infiniteRecursion` for adapters that need
    ///   one another, `shutDown`.
    public func service<Service: Sendable>(
        _ service: Service.Type,
        named name: String? = nil,
        timeout: Duration? = nil
    ) throws(RoutingError) -> Service {
        try self.core.service(service, ServiceWish(name: name, timeout: timeout))
    }

    /// Says where a service is whose provider is no module of this bus: in another process, perhaps, behind a
    /// connector.
    ///
    /// ```swift
    /// try bus.connect("memo", to: WorldClock())
    /// try bus.provide((any TimeService).self, at: "memo://time") { TimeServiceProxy($0) }
    /// ```
    ///
    /// - Parameters:
    ///   - service: the protocol.
    ///   - url: the URL that its methods are below.
    ///   - name: which provider it is, if there are several.
    ///   - fileID: where it is said, for the message of a conflict.
    ///   - line: where it is said, for the message of a conflict.
    ///   - proxy: makes what callers get.
    /// - Returns: what removes the service.
    /// - Throws: `conflict` if the protocol has a provider of that name, `shutDown`.
    @discardableResult
    public func provide<Service: Sendable>(
        _ service: Service.Type,
        at url: String,
        named name: String? = nil,
        fileID: String = #fileID,
        line: Int = #line,
        proxy: @escaping @Sendable (ServiceEndpoint) -> Service
    ) throws(RoutingError) -> Registration {
        let offer = ServiceOffer(service, name, maker: .proxy(at: url, proxy))
        return try self.core.offer([offer], fileID, line)[0]
    }

    /// Has one service answered by the provider of another, whose protocols know nothing of each other.
    ///
    /// ```swift
    /// try bus.adapt((any Clock).self, from: (any TimeService).self) { time in ClockAdapter(time) }
    /// ```
    ///
    /// Adapters may be chained. One serves every name: asking for a provider by name returns the adapted one
    /// of that name.
    ///
    /// - Parameters:
    ///   - required: the protocol that callers ask for.
    ///   - provided: the protocol that a module provides, now or later.
    ///   - fileID: where it is said, for the message of a conflict.
    ///   - line: where it is said, for the message of a conflict.
    ///   - adapter: makes the one of the other, each time that the service is asked for, where the caller is.
    /// - Returns: what removes the adapter.
    /// - Throws: `conflict` if the protocol has a provider already, `shutDown`. That adapters need one
    ///   another is found when a service is asked for, and by ``validate(urls:services:)``.
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
        let offer = ServiceOffer(ServiceKey(required), source)
        return try self.core.offer([offer], fileID, line)[0]
    }
}

extension BusCore {
    /// Takes services in: all of them, or none.
    func offer(
        _ offers: [ServiceOffer],
        _ fileID: String,
        _ line: Int
    ) throws(RoutingError) -> [Registration] {
        if offers.isEmpty { return [] }
        let replaces = self.configuration.conventions.sameShape == .replaces
        let ids = try self.services.withLock { register throws(RoutingError) in
            // Checked under the lock: the shutdown that empties the register afterwards finds them, or they
            // are not added.
            guard self.phase.load(ordering: .sequentiallyConsistent) == .open else {
                throw .shutDown(url: "")
            }
            var ids: [Int] = []
            do throws(RoutingError) {
                for offer in offers { ids.append(try register.add(offer, fileID, line, replaces: replaces)) }
            } catch {
                for id in ids { _ = register.remove(id) }
                throw error
            }
            return ids
        }
        return zip(offers, ids).map {
            Registration(pattern: "\($0.key)", core: self, target: .service($1))
        }
    }

    func withdraw(_ id: Int) {
        // Released outside the lock: what an adapter holds may use the bus in its deinitializer.
        let withdrawn = self.services.withLock { $0.remove(id) }
        _ = consume withdrawn
    }

    func withdrawAll() {
        let withdrawn = self.services.withLock { $0.removeAll() }
        _ = consume withdrawn
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
                throw .typeMismatch(url: "", wanted: type, found: maker, origin: "its provider is")
            }
            return try maker.make(self, wish)
        case .onDemand: throw .madeOnDemand(key)
        }
    }

    func offer(for key: ServiceKey, _ chain: [ServiceKey] = []) throws(RoutingError) -> ServiceOffer {
        try self.services.withLock { register throws(RoutingError) in
            if let offer = register.offer(for: key) { return offer }
            guard self.phase.load(ordering: .sequentiallyConsistent) == .open else {
                throw .shutDown(url: "")
            }
            throw .noService(key, provided: register.keys, chain: chain)
        }
    }
}
