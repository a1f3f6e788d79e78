internal import Synchronization
internal import WaybillEventLoop
internal import WaybillRouting

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
            // Seen under the lock: whoever empties the register afterwards finds them, or they do not get in.
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
        // Let go of outside the lock: what an adapter holds may use the bus as it goes away.
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
        case .maker(let maker), .adapter(let maker, from: _):
            guard let maker = maker as? ServiceMaker<Service> else {
                throw .typeMismatch(url: "", wanted: type, found: maker, origin: "its provider is")
            }
            return try maker.make(self, wish)
        case .router: throw .madeOnDemand(key)
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
