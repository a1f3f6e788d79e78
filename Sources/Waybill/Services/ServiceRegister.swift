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

    /// Adds or replaces a service, and returns the number by which it can be removed.
    mutating func add(
        _ offer: ServiceOffer,
        fileID: String,
        line: Int,
        replaces: Bool
    ) throws(RoutingError) -> Int {
        if let rival = self.entries[offer.key], !replaces {
            let place = "(\(rival.fileID):\(rival.line))"
            let message = "`\(offer.key)` is already provided \(place): give one of the two providers a name"
            throw RoutingError(.conflict, message: message)
        }
        self.lastID += 1
        self.entries[offer.key] = Entry(id: self.lastID, offer: offer, fileID: fileID, line: line)
        return self.lastID
    }

    mutating func remove(_ id: Int) -> ServiceOffer? {
        guard let key = self.entries.first(where: { $0.value.id == id })?.key else { return nil }
        return self.entries.removeValue(forKey: key)?.offer
    }

    /// Returns the provider of a service, where an adapter provides its service under every name.
    func offer(for key: ServiceKey) -> ServiceOffer? {
        if let entry = self.entries[key] { return entry.offer }
        guard key.name != nil, let offer = self.entries[key.named(nil)]?.offer,
            case .adapter = offer.source
        else { return nil }
        return offer
    }

    /// All services, in the order in which they were added.
    var offers: [ServiceOffer] { self.entries.values.sorted { $0.id < $1.id }.map(\.offer) }
}

extension ServiceRegister {
    /// Returns the problem with a service that the program needs; nil if it can be provided under any name.
    func problem(with key: ServiceKey) -> RoutingError? {
        self.problem(with: key) { $0.isOfSameType(as: key) }
    }

    /// Returns the problem with a service whose protocol is given by name, as on a command line.
    func problem(withServiceNamed name: String) -> RoutingError? {
        self.problem(with: name) { $0.typeName == name || $0.typeName == "any \(name)" }
    }

    private func problem(
        with key: some CustomStringConvertible,
        isMeant: (ServiceKey) -> Bool
    ) -> RoutingError? {
        let ways = self.offers.filter { isMeant($0.key) }
        if ways.isEmpty { return .noService(key, provided: self.keys) }
        // One provider is enough.
        let problems = ways.map { self.problem(along: [$0.key], at: $0)?.error }
        return problems.contains { $0 == nil } ? nil : problems.first ?? nil
    }

    /// Returns the problems with the adapters, and each problem once.
    func problemsWithAdapters() -> [RoutingError] {
        var seen: Set<ServiceKey> = []
        var problems: [RoutingError] = []
        for offer in self.offers where !seen.contains(offer.key) {
            guard let found = self.problem(along: [offer.key], at: offer) else { continue }
            let problem = found.error
            if problem.code == .infiniteRecursion { seen.formUnion(found.chain) }
            // An adapter that needs another adapter has the same problem as that adapter.
            if !problems.contains(where: { $0.message == problem.message }) { problems.append(problem) }
        }
        return problems
    }

    var keys: [ServiceKey] { self.offers.map(\.key) }

    /// Returns the first problem on the way from an adapter to a provider, and the services on this way.
    private func problem(
        along chain: [ServiceKey],
        at offer: ServiceOffer
    ) -> (error: RoutingError, chain: [ServiceKey])? {
        guard case .adapter(_, from: let source, adapt: _) = offer.source else { return nil }
        let key = source.named(chain.last?.name)
        if chain.contains(key) { return (.cycle(chain, key), chain) }
        guard let next = self.offer(for: key) ?? self.offers.first(where: { $0.key.isOfSameType(as: key) })
        else { return (.noService(key, provided: self.keys, chain: chain), chain) }
        return self.problem(along: chain + [key], at: next)
    }
}

/// Returns a copy of a maker that also adapts the service, or nil for a maker of another service.
typealias AdaptMaker = @Sendable (any AdaptableMaker) -> (any Sendable)?

/// A service that a module provides, with the source of its objects.
struct ServiceOffer: Sendable {
    enum Source: Sendable {
        /// A ``ServiceMaker`` for the service's type.
        case maker(any Sendable)
        /// A ``ServiceMaker`` that first requests another service, with the name of the caller's request.
        case adapter(any Sendable, from: ServiceKey, adapt: AdaptMaker)
        /// An object of another product that makes the service anew for each request.
        case onDemand(any Sendable)
    }

    let key: ServiceKey
    let source: Source
    /// The known URLs of the service's methods.
    var urls: [String] = []
}

/// The key of a service: its protocol, and the name of the provider if the service has several providers.
struct ServiceKey: Hashable, Sendable, CustomStringConvertible {
    private let id: ObjectIdentifier
    let typeName: String
    private(set) var name: String?

    init(_ type: any Any.Type, _ name: String? = nil) {
        self.id = ObjectIdentifier(type)
        self.typeName = "\(type)"
        self.name = name
    }

    func named(_ name: String?) -> Self {
        var key = self
        key.name = name
        return key
    }

    func isOfSameType(as other: Self) -> Bool { self.id == other.id }

    var description: String {
        let type = self.typeName.hasPrefix("any ") ? String(self.typeName.dropFirst(4)) : self.typeName
        return self.name.map { "\(type) named \($0)" } ?? type
    }
}

/// The factory of a service, which makes the object that a caller receives.
final class ServiceMaker<Service: Sendable>: Sendable {
    typealias Make = @Sendable (BusCore, ServiceWish) throws(RoutingError) -> Service

    let make: Make

    init(_ make: @escaping Make) { self.make = make }
}

extension ServiceOffer.Source {
    /// Returns the maker of a proxy that sends messages to the URLs below a base URL.
    static func proxy<Service: Sendable>(
        at url: String,
        _ proxy: @escaping @Sendable (ServiceEndpoint) -> Service
    ) -> Self {
        .maker(
            ServiceMaker { core, wish in
                proxy(ServiceEndpoint(bus: MessageBus(sharing: core), url: url, timeout: wish.timeout))
            }
        )
    }
}

/// A caller's request for a service, and the services whose adapters led to the request.
struct ServiceWish: Sendable {
    let name: String?
    let timeout: Duration?
    var chain: [ServiceKey] = []
}

// The URL of these errors is the name of the service, so that the bus does not add the URL of the message
// whose handler requested the service.
extension RoutingError {
    static func noService(
        _ key: some CustomStringConvertible,
        provided: [ServiceKey],
        chain: [ServiceKey] = []
    ) -> Self {
        let others = provided.map { "`\($0)`" }.sorted().joined(separator: ", ")
        let known = others.isEmpty ? "the bus has no services" : "the bus has the services \(others)"
        let why = chain.last.map { ", which the adapter of `\($0)` needs" } ?? ""
        let message =
            "no module provides the service `\(key)`\(why); install a module that conforms to it (\(known))"
        return Self(.noHandler, url: "\(key)", message: message)
    }

    static func madeOnDemand(_ key: ServiceKey) -> Self {
        let remedy = "get it with `bus.performance(of:)`, and call `perform()`"
        return Self(.noHandler, url: "\(key)", message: "the service `\(key)` is made on demand: \(remedy)")
    }

    static func notMadeOnDemand(_ key: ServiceKey) -> Self {
        let message = "the service `\(key)` is not made on demand: get it with `bus.service(_:)`"
        return Self(.noHandler, url: "\(key)", message: message)
    }

    static func cycle(_ chain: [ServiceKey], _ key: ServiceKey) -> Self {
        let from = chain.firstIndex(of: key) ?? 0
        let names = (chain[from...] + [key]).map { "`\($0)`" }.joined(separator: " from ")
        let message = "the adapters form a cycle, so remove one of them: \(names)"
        return Self(.infiniteRecursion, url: "\(key)", message: message)
    }
}
