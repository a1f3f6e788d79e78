public import Logging
public import WaybillEventLoop
// A program that imports `Waybill` can use addresses, parameters and errors without another import.
@_exported public import WaybillRouting

/// A message bus whose addresses are URLs.
///
/// Modules register handlers for URL patterns. Code that knows a URL routes it and receives the value of the
/// handler:
///
/// ```swift
/// let bus = MessageBus()
/// try bus.register("app://user/:uid") { message -> User in
///     try users.user(message.parameters.require("uid"))
/// }
/// let user: User = try await bus.route("app://user/1")
/// ```
///
/// You can use a bus from any thread, task and actor. A handler that is a closure runs on the bus's event
/// loop, and a handler that is a method of an actor runs on the loop of the actor. Routing a message on a
/// loop of the bus takes no lock. If the handler is on the same loop, the message does not switch threads.
///
/// When the last reference to a bus is released, callers that wait for replies fail. To let messages finish
/// first, call ``shutDown(drainingUntil:)``.
public final class MessageBus: Sendable {
    let core: BusCore

    /// Whether the bus ends when this object is released.
    private let isOwner: Bool

    /// Creates a bus on one event loop.
    ///
    /// - Parameters:
    ///   - eventLoop: The loop on which handlers that are closures run, by default a new loop on its own
    ///     thread. The bus retains the loop, and does not stop it.
    ///   - configuration: The default scheme, the limits and the logger.
    public convenience init(
        eventLoop: EventLoop = EventLoop(name: "waybill"),
        configuration: Configuration = .init()
    ) {
        self.init(eventLoops: [eventLoop], configuration: configuration)
    }

    /// Creates a bus on several event loops, on each of which it routes without a lock.
    ///
    /// - Parameters:
    ///   - eventLoops: The loops, at least one. Handlers that are closures run on the first loop.
    ///   - configuration: The default scheme, the limits and the logger.
    public init(eventLoops: [EventLoop], configuration: Configuration = .init()) {
        self.core = BusCore(eventLoops: eventLoops, configuration: configuration)
        self.isOwner = true
    }

    /// Creates a bus on the event loops of a group.
    ///
    /// - Parameters:
    ///   - group: The loops. Handlers that are closures run on the first loop.
    ///   - configuration: The default scheme, the limits and the logger.
    public convenience init(eventLoops group: EventLoopGroup, configuration: Configuration = .init()) {
        self.init(eventLoops: group.eventLoops, configuration: configuration)
    }

    /// Creates another handle, which does not keep the bus open, for a module that the bus retains.
    init(sharing core: BusCore) {
        self.core = core
        self.isOwner = false
    }

    deinit {
        if self.isOwner { self.core.retireAll() }
    }

    /// The loop on which handlers that are closures run.
    public var eventLoop: EventLoop { self.core.primaryShard.eventLoop }
}

extension MessageBus {
    /// The URL conventions and the limits of a bus.
    public struct Configuration: Sendable {
        /// The scheme of URLs and patterns without a scheme; "app" by default.
        public var defaultScheme: String

        /// The rules by which URLs are read and matched; ``/WaybillRouting/RoutingConventions/waybill`` by
        /// default.
        public var conventions: RoutingConventions

        /// The limits of URLs, for example their length.
        public var limits: RoutingLimits

        /// The number of messages that may wait in the mailbox of a module; 1,024 by default.
        ///
        /// When the mailbox is full, further messages fail with `mailboxFull`, unless the mailbox has another
        /// policy.
        public var mailboxLimit: Int

        /// The number of times that handlers may forward a message; 16 by default.
        ///
        /// A message that handlers forward more often fails with `hopLimitExceeded`.
        public var hopLimit: Int

        /// The logger for dead letters, which are failures that no caller receives, as warnings.
        public var logger: Logger

        /// Creates a configuration.
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

// The parsing of URLs and patterns, which all parts of a bus share.
extension MessageBus.Configuration {
    /// Returns an empty table.
    package func table<Handler: Sendable>(of handler: Handler.Type = Handler.self) -> RouteTable<Handler> {
        RouteTable(conventions: self.conventions, defaultScheme: self.defaultScheme, limits: self.limits)
    }

    /// Returns a table that has only the given pattern, to test which URLs match the pattern.
    package func scope(of pattern: String) throws(RoutingError) -> RouteTable<Void> {
        var table = self.table(of: Void.self)
        try table.insert(pattern, ())
        return table
    }

    /// Parses a pattern.
    package func pattern(_ text: String) throws(RoutingError) -> RoutePattern {
        try RoutePattern(
            text,
            conventions: self.conventions,
            defaultScheme: self.defaultScheme,
            limits: self.limits
        )
    }

    /// Parses a pattern that a peer sent, with a smaller budget and without long runs of combining marks.
    package func peerPattern(_ text: String) throws(RoutingError) -> RoutePattern {
        guard CombiningMarks.areFew(in: text) else {
            throw RoutingError(.invalidPattern, url: text, message: CombiningMarks.excess)
        }
        return try self.table(of: Void.self).pattern(text, from: .peer)
    }
}
