internal import WaybillRouting

/// The registration of a handler, a connector, a service, a subscriber, a middleware, or an exposed or shared
/// pattern.
///
/// Keep the registration if you want to cancel it later. If you drop the registration, its entry stays
/// registered.
public struct Registration: Sendable {
    /// The kind of a registration.
    ///
    /// More kinds can be added later, so a `switch` over kinds needs a `default` case.
    public struct Kind: Hashable, Sendable {
        private enum Storage: String {
            case route, connector, service, subscription, middleware, exposure, share
        }

        private let storage: Storage

        /// A handler for the URLs of a pattern.
        public static let route = Self(storage: .route)

        /// A connector for the URLs of a scheme.
        public static let connector = Self(storage: .connector)

        /// A service, which callers find by its protocol.
        public static let service = Self(storage: .service)

        /// A subscriber of the messages that are published to a pattern.
        public static let subscription = Self(storage: .subscription)

        /// A middleware around deliveries.
        public static let middleware = Self(storage: .middleware)

        /// A pattern whose URLs are exposed to peers in other processes.
        public static let exposure = Self(storage: .exposure)

        /// A pattern whose URLs are shared with the other processes of a cluster.
        public static let share = Self(storage: .share)
    }

    /// The kind of the registration.
    public var kind: Kind {
        switch self.target {
        case .route: .route
        case .connection: .connector
        case .service: .service
        case .subscription: .subscription
        case .middleware: .middleware
        case .exposure(_, .peers): .exposure
        case .exposure(_, .nodes): .share
        }
    }

    /// The registration as text.
    ///
    /// The text is a pattern, the scheme of a connector followed by a colon, or the name of a service's
    /// protocol. The text of a middleware that intercepts all messages is `**`.
    public let pattern: String

    let core: BusCore
    let target: Target

    /// The entry that ``cancel()`` removes.
    enum Target: Sendable {
        case route(RouteID)
        case connection(Int)
        case service(Int)
        case subscription(Topics.SubscriberID)
        /// The number of a middleware; nil when the bus was already shut down, so that no middleware was
        /// added.
        case middleware(Int?)
        case exposure(ExposureTable.ID, Audience)
    }

    /// Cancels the registration.
    ///
    /// After this call, no message reaches the handler, connector or subscriber, and callers that wait for a
    /// reply fail at once with `noHandler`. A middleware continues to intercept the messages that it has
    /// already received. A second call has no effect. If another handler has replaced this handler, the call
    /// has no effect either.
    public func cancel() { self.core.unregister(self.target) }
}

extension Registration.Kind: CustomStringConvertible {
    /// The name of the kind.
    public var description: String { self.storage.rawValue }
}
