internal import WaybillRouting

/// The registration of a handler, a connector, a service, a subscriber, a middleware, or an exposed or shared
/// pattern.
///
/// Keep the registration if you want to cancel it later. Dropping it leaves everything registered.
public struct Registration: Sendable {
    /// The kind of a registration.
    ///
    /// The set of kinds is open-ended, so that a new kind breaks no program.
    public struct Kind: Hashable, Sendable {
        private enum Storage: String {
            case route, connector, service, subscription, middleware, exposure, share
        }

        private let storage: Storage

        /// A handler for the URLs of a pattern.
        public static let route = Self(storage: .route)

        /// A connector for the URLs of a scheme.
        public static let connector = Self(storage: .connector)

        /// A service, found by its protocol.
        public static let service = Self(storage: .service)

        /// A subscriber of the messages that are published to a pattern.
        public static let subscription = Self(storage: .subscription)

        /// A middleware around deliveries.
        public static let middleware = Self(storage: .middleware)

        /// A pattern whose URLs are exposed to peers.
        public static let exposure = Self(storage: .exposure)

        /// A pattern whose URLs are shared with other nodes of a cluster.
        public static let share = Self(storage: .share)
    }

    /// The kind of the registration.
    public var kind: Kind {
        switch self.target {
        case .route: .route
        case .connection, .cluster: .connector
        case .service: .service
        case .subscription: .subscription
        case .middleware: .middleware
        case .exposure: .exposure
        case .share: .share
        }
    }

    /// The registration as text.
    ///
    /// The text is a pattern, the scheme of a connector followed by a colon, or the name of a service's
    /// protocol. A middleware around all deliveries has `**`.
    public let pattern: String

    let core: BusCore
    let target: Target

    /// The entry that ``cancel()`` removes.
    enum Target: Sendable {
        case route(RouteID)
        case connection(Int)
        case service(Int)
        case subscription(Topics.SubscriberID)
        /// The ID is nil if the bus had already been shut down; there is nothing to remove.
        case middleware(Int?)
        case exposure(ExposureTable.ID)
        case share(ExposureTable.ID)
        case cluster(Int)
    }

    /// Cancels the registration.
    ///
    /// After this call, no message reaches the handler, connector or subscriber, and callers that wait for it
    /// fail at once with `noHandler`. A middleware continues to intercept the messages that it has already
    /// received. A second call has no effect, and neither has a call after another handler has replaced this
    /// one.
    public func cancel() { self.core.unregister(self.target) }
}

extension Registration.Kind: CustomStringConvertible {
    /// The name of the kind.
    public var description: String { self.storage.rawValue }
}
