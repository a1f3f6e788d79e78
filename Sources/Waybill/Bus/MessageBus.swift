public import WaybillEventLoop
internal import WaybillRouting

/// A message bus whose addresses are URLs.
///
/// Modules register handlers for URL patterns; whoever knows a URL routes it, and gets the handler's value:
///
/// ```swift
/// let bus = MessageBus()
/// try bus.register("app://user/:uid") { message -> User in
///     try users.user(message.parameters.require("uid"))
/// }
/// let user: User = try await bus.route("app://user/1")
/// ```
///
/// A bus can be used from any thread, task and actor. Plain closures run on its event loop, methods of actors on the
/// actor's. Routing on a loop of the bus takes no lock, and no hop if the handler is on the same loop.
///
/// A bus that nobody holds any more fails what waits for it. End one in good order with ``shutDown(drainingUntil:)``.
public final class MessageBus: Sendable {
    let core: BusCore

    /// Whether the bus goes away with this object, as it does with the one that its owner holds.
    private let isOwner: Bool

    /// Makes a bus with an event loop of its own, on a thread of its own.
    ///
    /// - Parameter configuration: the default scheme, the limits, and where to log.
    public convenience init(configuration: Configuration = .init()) {
        self.init(eventLoop: EventLoop(name: "waybill"), configuration: configuration)
    }

    /// Makes a bus on an event loop that is there already.
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
    public var eventLoop: EventLoop { self.core.home.eventLoop }
}
