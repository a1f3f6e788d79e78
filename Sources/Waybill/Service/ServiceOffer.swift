/// What a bus remembers of a service that somebody provides.
struct ServiceOffer: Sendable {
    enum Source: Sendable {
        /// A ``ServiceMaker`` for the service's type.
        case maker(any Sendable)
        /// A ``ServiceMaker`` that asks for another service first, of any name.
        case adapter(any Sendable, from: ServiceKey)
        /// A ``ServiceRouter`` whose destination is the service.
        case router(any Sendable)
    }

    let key: ServiceKey
    /// The URLs of its methods, as far as they are known.
    let urls: [String]
    let source: Source

    init<Service: Sendable>(
        _ type: Service.Type,
        _ name: String?,
        urls: [String] = [],
        maker: ServiceMaker<Service>
    ) {
        self.key = ServiceKey(type, name)
        self.urls = urls
        self.source = .maker(maker)
    }

    init(_ key: ServiceKey, _ source: Source) {
        self.key = key
        self.urls = []
        self.source = source
    }
}
