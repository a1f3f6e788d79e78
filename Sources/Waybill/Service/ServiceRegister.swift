internal import WaybillRouting

/// The services of a bus.
struct ServiceRegister {
    private struct Entry {
        let id: Int
        let offer: ServiceOffer
        let fileID: String
        let line: Int
    }

    private var entries: [ServiceKey: Entry] = [:]
    private var lastID = 0

    /// Takes a service in; the conventions say whether it may replace another one.
    ///
    /// - Returns: what takes it out again.
    /// - Throws: `conflict` naming the place of who provides it already.
    mutating func add(
        _ offer: ServiceOffer,
        _ fileID: String,
        _ line: Int,
        replaces: Bool
    ) throws(RoutingError) -> Int {
        if let rival = self.entries[offer.key], !replaces {
            throw RoutingError(
                .conflict,
                message: "`\(offer.key)` is provided already (\(rival.fileID):\(rival.line)): "
                    + "give one of the two a name"
            )
        }
        self.lastID += 1
        self.entries[offer.key] = Entry(id: self.lastID, offer: offer, fileID: fileID, line: line)
        return self.lastID
    }

    /// Takes a service out.
    mutating func remove(_ id: Int) -> ServiceOffer? {
        guard let key = self.entries.first(where: { $0.value.id == id })?.key else { return nil }
        return self.entries.removeValue(forKey: key)?.offer
    }

    mutating func removeAll() -> [ServiceOffer] {
        defer { self.entries = [:] }
        return self.offers
    }

    /// Who provides a service; an adapter does so under any name.
    func offer(for key: ServiceKey) -> ServiceOffer? {
        if let entry = self.entries[key] { return entry.offer }
        guard key.name != nil, let offer = self.entries[key.with(name: nil)]?.offer,
            case .adapter = offer.source
        else { return nil }
        return offer
    }

    /// All services, in the order in which they were taken in.
    var offers: [ServiceOffer] { self.entries.values.sorted { $0.id < $1.id }.map(\.offer) }
}
