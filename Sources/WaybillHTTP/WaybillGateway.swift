#if HTTP
internal import HTTPTypes
public import Hummingbird
public import Logging
public import Waybill
internal import WaybillEventLoop

/// Answers HTTP requests with what a bus exposes, as routes of Hummingbird.
///
/// ```swift
/// try bus.expose("app://user/:id", for: .reads)
/// let router = Router()
/// router.addRoutes(WaybillGateway(bus).routes, atPath: "/bus")
/// try await Application(router: router).runService()
/// ```
///
/// `POST /bus/app/user/1` calls `app://user/1`: the path is the URL with its scheme first. GET does the same
/// where the URL is exposed for ``Waybill/ExposedOperations/reads``. The query, a JSON object and a form
/// become parameters, and the reply is JSON. With `Accept: text/event-stream` progress replies, the reply and
/// a failure are server-sent events; `GET /bus/subscribe?pattern=app://prices/**` is a subscription.
///
/// Failures are problems (RFC 9457), and say nothing of the inside: what a handler threw goes to the log,
/// under an ID that the problem names.
///
/// The gateway answers only requests for the hosts of its configuration and refuses those that a page of
/// another origin makes, since a server on a developer's own machine is reached by every page in its browser.
/// The user is found out by a middleware of Hummingbird.
///
/// It needs a real server: Hummingbird's tests of a router alone have no connection that could be closed.
public struct WaybillGateway: Sendable {
    /// Bounds, and which requests are answered.
    public struct Configuration: Sendable {
        /// The names that the server is reached by, without ports; those of the machine itself by default.
        ///
        /// Nil stands for any name, where a proxy in front has checked it.
        public var hosts: Set<String>? = ["localhost", "127.0.0.1", "[::1]"]

        /// Other origins whose pages may use the gateway (CORS), as `https://example.com`; none by default.
        public var origins: Set<String> = []

        /// How many bytes the body of a request may have; 1 MiB by default.
        public var bodyLimit = 1 << 20

        /// How long a call may take, 30 seconds by default; a client may ask for less, by the header
        /// `Waybill-Timeout` in milliseconds.
        public var timeout = Duration.seconds(30)

        /// Whether the server speaks HTTP/2, in which a response must not have the header `Connection`.
        ///
        /// In HTTP/1.1 that header says that a connection is closed after the response, as it is after a
        /// stream and after a call that took a while.
        public var isHTTP2 = false

        /// The headers of requests that messages get, in lower case; by default those of trace contexts.
        public var headers: Set<String> = ["traceparent", "tracestate", "baggage"]

        /// How often a stream in which nothing happens gets a comment, so that nothing between takes it for
        /// dead; 15 seconds by default.
        public var heartbeat = Duration.seconds(15)

        /// How many streams there may be at once, and how many patterns may be subscribed to; 1,000 by
        /// default.
        ///
        /// A pattern without clients makes room for a pattern with a client.
        public var streamLimit = 1000

        /// How many streams one address may have at once, and how many patterns are kept for it to come back
        /// to; 100 by default, nil for as many as there may be.
        ///
        /// It needs a context that knows addresses, as for ``WaybillGateway/routes(for:)``. Behind a proxy, all
        /// clients have the address of the proxy: set nil there.
        public var streamsPerClient: Int? = 100

        /// How long a client may take for one event of a stream; 30 seconds by default.
        ///
        /// A client that reads nothing for so long is disconnected.
        public var stallTime = Duration.seconds(30)

        /// How many messages of a pattern are kept for clients that come back, 256 by default.
        public var replayLimit = 256

        /// How many bytes the kept messages of all patterns may have together; 64 MiB by default.
        ///
        /// The oldest are dropped first. A message that several patterns match counts once. As many bytes again
        /// may be on their way to clients; a client gets the event `gap` in place of a message beyond that.
        public var replayBytes = 64 << 20

        /// How long they are kept after the last client has gone, one minute by default.
        ///
        /// A pattern none of whose clients has had an event is not kept, since no client could come back to it.
        public var replayTime = Duration.seconds(60)

        /// How long a loop or a check may take before the program counts as not ready; one second by default.
        public var readinessTime = Duration.seconds(1)

        /// Where failures are logged whose reason clients do not learn.
        public var logger: Logger

        /// Makes a configuration; everything has a default.
        public init(logger: Logger = Logger(label: "waybill.http")) { self.logger = logger }
    }

    let bus: MessageBus
    let configuration: Configuration
    let feeds: EventFeeds
    let streams: EventStreams
    let grace = GracePeriods()
    /// The bus's first loop, where most calls begin.
    private let loop: EventLoopTaskExecutor

    /// Makes a gateway to a bus, which it holds.
    ///
    /// - Parameters:
    ///   - bus: the bus; nothing of it is reached but what it exposes.
    ///   - configuration: bounds, and which requests are answered.
    public init(_ bus: MessageBus, configuration: Configuration = Configuration()) {
        self.bus = bus
        self.configuration = configuration
        self.feeds = EventFeeds(bus, configuration)
        self.streams = EventStreams(
            limit: configuration.streamLimit,
            perClient: configuration.streamsPerClient,
            heartbeat: configuration.heartbeat,
            stallTime: configuration.stallTime,
            isHTTP2: configuration.isHTTP2
        )
        self.loop = bus.eventLoop.taskExecutor
    }

    /// Where a call begins: on the loop of its handler.
    func loop(for request: ExternalRequest) -> EventLoopTaskExecutor {
        let loop = self.bus.eventLoop(for: request)
        return loop === self.loop.eventLoop ? self.loop : loop.taskExecutor
    }

    /// The routes, for a router whose context is `BasicRequestContext`.
    public var routes: RouteCollection<BasicRequestContext> { self.routes(for: BasicRequestContext.self) }

    /// The routes, for a router with a context of its own.
    ///
    /// With a `RemoteAddressRequestContext`, messages know the address of the client.
    ///
    /// - Parameter context: the type of the context.
    /// - Returns: what is added to the router.
    public func routes<Context: RequestContext>(for context: Context.Type) -> RouteCollection<Context> {
        let routes = RouteCollection(context: context)
        // Most contexts know no address, and a cast that fails takes as long as a route.
        let knowsAddress = context is any RemoteAddressRequestContext.Type
        routes.on("subscribe", method: .get) { request, context in
            let peer = knowsAddress ? (context as? any RemoteAddressRequestContext)?.remoteAddress : nil
            return await self.respond(to: request) { try self.subscribe(request, from: peer?.ipAddress) }
        }
        for method: HTTPRequest.Method in [.get, .post] {
            routes.on("**", method: method) { request, context in
                let peer = knowsAddress ? (context as? any RemoteAddressRequestContext)?.remoteAddress : nil
                return await self.respond(to: request) { try await self.call(request, context, from: peer) }
            }
        }
        for method: HTTPRequest.Method in Self.refusedMethods {
            routes.on("**", method: method) { request, context in
                await self.respond(to: request) {
                    throw self.methodNotAllowed(context.parameters.getCatchAll())
                }
            }
        }
        routes.on("**", method: .options) { request, context in
            await self.respond(to: request) {
                try self.preflight(request, context.parameters.getCatchAll())
            }
        }
        return routes
    }

    /// The methods that no URL takes; a router answers others as what does not exist.
    private static var refusedMethods: [HTTPRequest.Method] {
        [.put, .patch, .delete, .head, .trace, .connect] + [HTTPRequest.Method("QUERY")].compactMap(\.self)
    }

    /// Answers a request that is one the gateway may answer.
    private func respond(
        to request: Request,
        _ body: () async throws -> Response
    ) async -> Response {
        var response: Response
        do {
            try self.configuration.check(request)
            response = try await body()
        } catch let problem as Problem {
            response = problem.response
        } catch {
            response = self.problem(error, at: request.uri.path).response
        }
        self.configuration.allow(request, &response)
        return response
    }

    /// What a client learns of an error; the rest is logged.
    func problem(_ error: any Error, at url: String) -> Problem {
        let problem = Problem(error)
        guard let id = problem.id else { return problem }
        self.configuration.logger.error(
            "request failed",
            metadata: ["id": "\(id)", "url": "\(url.onShortLine)", "error": "\(error)"]
        )
        return problem
    }
}
#endif
