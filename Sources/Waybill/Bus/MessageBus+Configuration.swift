public import Logging
public import WaybillRouting

extension MessageBus {
    /// How a bus reads URLs, and where its bounds are.
    public struct Configuration: Sendable {
        /// The scheme of a URL or pattern that has none; "app" by default.
        public var defaultScheme: String

        /// How URLs are read and matched; ``RoutingConventions/waybill`` by default.
        public var conventions: RoutingConventions

        /// How long a URL may be, and how much may be in it.
        public var limits: RoutingLimits

        /// How many messages may wait for a module, 1,024 by default; one more fails with `mailboxFull`.
        public var mailboxLimit: Int

        /// How many times a message may be routed on before it fails with `hopLimitExceeded`; 16 by default.
        public var hopLimit: Int

        /// Where the bus writes what nobody is there to be told: dead letters, as warnings.
        public var logger: Logger

        /// Makes a configuration; everything has a default.
        public init(
            defaultScheme: String = "app",
            conventions: RoutingConventions = .waybill,
            limits: RoutingLimits = .default,
            mailboxLimit: Int = 1024,
            hopLimit: Int = 16,
            logger: Logger = Logger(label: "waybill")
        ) {
            self.defaultScheme = defaultScheme
            self.conventions = conventions
            self.limits = limits
            self.mailboxLimit = mailboxLimit
            self.hopLimit = hopLimit
            self.logger = logger
        }
    }
}
