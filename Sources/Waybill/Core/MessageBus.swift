public import Logging
public import WaybillEventLoop
public import WaybillRouting

/// A message bus whose addresses are URLs.
///
/// Modules register handlers for URL patterns; code that knows a URL routes it, and gets the handler's value:
///
/// ```swift
/// let bus = MessageBus()
/// try bus.register("app://user/:uid") { message -> User in
///     try users.user(message.parameters.require("uid"))
/// }
/// let user: User = try await bus.route("app://user/1")
/// ```
///
/// A bus can be used from any thread, task and actor. Plain closures run on its event loop, methods of actors
/// on the actor's. Routing on a loop of the bus takes no lock, and no hop if the handler is on the same loop.
///
/// When the last reference to a bus is released, callers that wait for it fail. Shut a bus down in order with
/// ``shutDown(drainingUntil:)``.
public final class MessageBus: Sendable {
    let core: BusCore

    /// Whether the bus ends with this object, as it does with the one that its owner holds.
    private let isOwner: Bool

    /// Makes a bus with an event loop of its own, on a thread of its own.
    ///
    /// - Parameter configuration: the default scheme, the limits, and where to log.
    public convenience init(configuration: Configuration = .init()) {
        self.init(eventLoop: EventLoop(name: "waybill"), configuration: configuration)
    }

    /// Makes a bus on an existing event loop.
    ///
    /// - Parameters:
    ///   - eventLoop: the loop on which plain closures run; the bus holds it, and leaves it running.
    ///   - configuration: the default scheme, the limits, and where to log.
    public convenience init(eventLoop: EventLoop, configuration: Configuration = .init()) {
        self.init(eventLoops: [eventLoop], configuration: configuration)
    }

    /// Makes a bus on several event loops, each of which routes without a lock.
    ///
    /// - Parameters:
    ///   - eventLoops: the loops, at least one; plain closures run on the first.
    ///   - configuration: the default scheme, the limits, and where to log.
    public init(eventLoops: [EventLoop], configuration: Configuration = .init()) {
        self.core = BusCore(eventLoops: eventLoops, configuration: configuration)
        self.isOwner = true
    }

    /// Makes a bus on the event loops of a group.
    ///
    /// - Parameters:
    ///   - group: the loops; plain closures run on the first.
    ///   - configuration: the default scheme, the limits, and where to log.
    public convenience init(eventLoops group: EventLoopGroup, configuration: Configuration = .init()) {
        self.init(eventLoops: group.eventLoops, configuration: configuration)
    }

    /// Another face of the same bus, for a module that its bus holds: it does not keep the bus open.
    init(sharing core: BusCore) {
        self.core = core
        self.isOwner = false
    }

    deinit {
        if self.isOwner { self.core.retireAll() }
    }

    /// The loop on which plain closures run.
    public var eventLoop: EventLoop { self.core.primaryShard.eventLoop }
}

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

        /// Where the bus logs failures that no caller receives: dead letters, as warnings.
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

// How a bus reads text: all code that reads URLs or patterns for it does so in the same way.
extension MessageBus.Configuration {
    /// An empty table.
    package func table<Handler: Sendable>(of handler: Handler.Type = Handler.self) -> RouteTable<Handler> {
        RouteTable(conventions: self.conventions, defaultScheme: self.defaultScheme, limits: self.limits)
    }

    /// A table with one pattern, to ask which URLs match it.
    package func scope(of pattern: String) throws(RoutingError) -> RouteTable<Void> {
        var table = self.table(of: Void.self)
        try table.insert(pattern, ())
        return table
    }

    /// Reads a pattern.
    package func pattern(_ text: String) throws(RoutingError) -> RoutePattern {
        try RoutePattern(
            text,
            conventions: self.conventions,
            defaultScheme: self.defaultScheme,
            limits: self.limits
        )
    }

    /// Reads a pattern that a peer sends: within a smaller budget, and without long runs of combining marks.
    package func peerPattern(_ text: String) throws(RoutingError) -> RoutePattern {
        guard CombiningMarks.areFew(in: text) else {
            throw RoutingError(.invalidPattern, url: text, message: CombiningMarks.excess)
        }
        return try self.table(of: Void.self).pattern(text, from: .peer)
    }

    /// Reads a URL.
    package func address(_ url: String) throws(RoutingError) -> Address {
        try Address(
            url,
            conventions: self.conventions,
            defaultScheme: self.defaultScheme,
            limits: self.limits
        )
    }
}
