#if HTTP
internal import HTTPTypes
public import Hummingbird
public import Logging
public import Waybill
internal import WaybillEventLoop

/// A gateway that handles HTTP requests with the exposed routes of a bus, as routes of Hummingbird.
///
/// ```swift
/// try bus.expose("app://user/:id", for: .reads)
/// let router = Router()
/// router.addRoutes(WaybillGateway(bus).routes, atPath: "/bus")
/// try await Application(router: router).runService()
/// ```
///
/// `POST /bus/app/user/1` calls `app://user/1`: the path is the URL with its scheme as the first segment. GET
/// has the same effect where the URL is exposed for ``/Waybill/ExposedOperations/reads``. The query, a JSON
/// object and a form become parameters, and the reply is JSON. With `Accept: text/event-stream`, progress
/// replies, the reply and a failure are server-sent events. `GET /bus/subscribe?pattern=app://prices/**` is a
/// subscription.
///
/// Failures are problem details (RFC 9457) that do not reveal internals. The error of a handler is logged
/// under an ID, which the problem contains.
///
/// The gateway handles only requests for the hosts of its configuration. It rejects requests that a page of
/// another origin makes, because every page in a developer's browser can reach a server on the same machine.
/// Authentication is the task of a Hummingbird middleware.
///
/// The gateway needs a running server. Hummingbird's `router` test mode does not have a connection that could
/// be closed.
public struct WaybillGateway: Sendable {
    /// The limits of a gateway, and the rules for its requests.
    public struct Configuration: Sendable {
        /// The host names of the server, without ports; by default the names of the local machine.
        ///
        /// Nil allows any name. Use it only behind a proxy that has checked the name.
        public var hosts: Set<String>? = ["localhost", "127.0.0.1", "[::1]"]

        /// Other origins whose pages may use the gateway (CORS), such as `https://example.com`; none by
        /// default.
        public var origins: Set<String> = []

        /// The most bytes in the body of a request; 1 MiB by default.
        public var bodyLimit = 1 << 20

        /// The time limit of a call; 30 seconds by default.
        ///
        /// A client may set a shorter limit in milliseconds with the header `Waybill-Timeout`.
        public var timeout = Duration.seconds(30)

        /// Whether the server uses HTTP/2, in which a response must not contain the header `Connection`.
        ///
        /// In HTTP/1.1, that header announces that the connection is closed after the response. The gateway
        /// closes it after a stream, and after a call that took a while.
        public var isHTTP2 = false

        /// The request headers that are copied to messages, in lower case; by default the headers of trace
        /// contexts.
        public var headers: Set<String> = ["traceparent", "tracestate", "baggage"]

        /// The interval after which an idle stream sends a comment; 15 seconds by default.
        ///
        /// The comment prevents intermediaries from treating the stream as dead.
        public var heartbeat = Duration.seconds(15)

        /// The most streams at the same time, and the most subscribed patterns; 1,000 by default.
        ///
        /// When the limit is reached, a pattern without clients is dropped for a pattern with a client.
        public var streamLimit = 1000

        /// The most streams of one client address at the same time, and the most patterns kept for its
        /// return; 100 by default.
        ///
        /// Nil disables the limit. The limit needs a context that provides addresses, as
        /// ``WaybillGateway/routes(for:)`` describes. Behind a proxy, all clients have the address of the
        /// proxy, so use nil there.
        public var streamsPerClient: Int? = 100

        /// The time in which a client must read one event of a stream; 30 seconds by default.
        ///
        /// A client that is slower is disconnected.
        public var stallTime = Duration.seconds(30)

        /// The most messages of a pattern that are kept for returning clients; 256 by default.
        public var replayLimit = 256

        /// The most bytes of all kept messages together; 64 MiB by default.
        ///
        /// The oldest messages are dropped first. A message that matches several patterns counts once.
        /// Messages that are being written to clients have a separate limit of the same size. Beyond it, a
        /// client receives the event `gap` in place of a message.
        public var replayBytes = 64 << 20

        /// The time for which messages are kept after the last client has left; one minute by default.
        ///
        /// A pattern is not kept if none of its clients has received an event, because no client could resume
        /// it.
        public var replayTime = Duration.seconds(60)

        /// The response time above which a loop or a readiness check makes the program not ready; one second
        /// by default.
        public var readinessTime = Duration.seconds(1)

        /// The logger for failures whose reason is hidden from clients.
        public var logger: Logger

        /// Creates a configuration.
        ///
        /// Every property has a default.
        public init(logger: Logger = Logger(label: "waybill.http")) { self.logger = logger }
    }

    let bus: MessageBus
    let configuration: Configuration
    let feeds: EventFeeds
    let streams: EventStreams
    let grace = GracePeriods()
    /// The first loop of the bus, on which most calls begin.
    private let loop: EventLoopTaskExecutor

    /// Creates a gateway to a bus, which it retains.
    ///
    /// - Parameters:
    ///   - bus: The bus. Only its exposed routes can be reached.
    ///   - configuration: The limits of the gateway, and the rules for its requests.
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

    /// Returns the loop of a request's handler, on which the call begins.
    func loop(for request: ExternalRequest) -> EventLoopTaskExecutor {
        let loop = self.bus.eventLoop(for: request)
        return loop === self.loop.eventLoop ? self.loop : loop.taskExecutor
    }

    /// The routes, for a router whose context is `BasicRequestContext`.
    public var routes: RouteCollection<BasicRequestContext> { self.routes(for: BasicRequestContext.self) }

    /// Returns the routes for a router with another context.
    ///
    /// With a `RemoteAddressRequestContext`, messages contain the address of the client.
    ///
    /// - Parameter context: The type of the context.
    /// - Returns: The routes to add to a router.
    public func routes<Context: RequestContext>(for context: Context.Type) -> RouteCollection<Context> {
        let routes = RouteCollection(context: context)
        // Most contexts do not provide an address, and a failed cast takes as long as a route.
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

    /// The methods that are rejected for every URL.
    ///
    /// A router responds to other methods as to unknown paths.
    private static var refusedMethods: [HTTPRequest.Method] {
        [.put, .patch, .delete, .head, .trace, .connect] + [HTTPRequest.Method("QUERY")].compactMap(\.self)
    }

    /// Responds to a request, if its host and origin are allowed.
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

    /// Returns the problem that a client receives for an error, and logs the details that it hides.
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
