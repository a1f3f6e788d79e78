internal import WaybillRouting

/// Something that was registered with a bus: a handler, a connector, a service, a subscriber, a middleware,
/// or what is exposed to peers or shared with nodes.
///
/// Keep it to unregister that again. What is registered stays if this is dropped.
public struct Registration: Sendable {
    /// What was registered; open-ended, so that a new kind breaks no program.
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

    /// What was registered.
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

    /// What was registered, as text.
    ///
    /// A pattern; a connector's scheme, with a colon; the name of a service's protocol. A middleware around
    /// all deliveries has `**`.
    public let pattern: String

    let core: BusCore
    let target: Target

    /// What ``cancel()`` takes out.
    enum Target: Sendable {
        case route(RouteID)
        case connection(Int)
        case service(Int)
        case subscription(Topics.SubscriberID)
        /// Nil if the bus had been shut down: there is nothing to take out.
        case middleware(Int?)
        case exposure(ExposureTable.ID)
        case share(ExposureTable.ID)
        case cluster(Int)
    }

    /// Unregisters what was registered.
    ///
    /// No message reaches a handler, connector or subscriber afterwards, and callers that wait for it fail at
    /// once with `noHandler`. Messages that are on their way keep a middleware that they have met. Doing so
    /// again, or after another handler took the place, changes nothing.
    public func cancel() { self.core.unregister(self.target) }
}

extension Registration.Kind: CustomStringConvertible {
    /// The name of the kind.
    public var description: String { self.storage.rawValue }
}
