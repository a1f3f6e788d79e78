#if HTTP
internal import HTTPTypes
public import Hummingbird
public import Logging
public import Waybill
internal import WaybillDocuments
internal import WaybillEventLoop
internal import WaybillJSON

/// A gateway that handles HTTP requests to the exposed URLs of a bus.
///
/// The gateway provides routes for a router of Hummingbird.
///
/// ```swift
/// try bus.expose("app://user/:id", for: .reads)
/// let router = Router()
/// router.addRoutes(WaybillGateway(bus).routes, atPath: "/bus")
/// try await Application(router: router).runService()
/// ```
///
/// `POST /bus/app/user/1` calls `app://user/1`: the path contains the URL, with its scheme as the first
/// segment. If the URL is exposed for ``/Waybill/ExposedOperations/reads``, a GET request has the same
/// effect. The parameters of the call come from the query and from a body that is a JSON object or a form,
/// and the reply is JSON. With `Accept: text/event-stream`, the progress replies, the reply and a failure are
/// server-sent events. `GET /bus/subscribe?pattern=app://prices/**` subscribes to a pattern.
/// `GET /bus/fingerprint` returns a text that differs when the exposed routes differ, so that a client that
/// the command `waybill client` has generated can detect a change.
///
/// A failure is sent as problem details (RFC 9457) that do not reveal details of the program. If the error of
/// a handler is hidden from the client, the gateway logs the error with an ID, and the problem details
/// contain the same ID.
///
/// The gateway handles only requests for the host names of its configuration. It rejects requests from web
/// pages of other origins, because every page in a developer's browser can send requests to a server on the
/// same machine. Use a Hummingbird middleware for authentication.
///
/// The `router` test mode of Hummingbird has no connection that the gateway could watch. A test in this mode
/// must set ``Configuration/watchesConnections`` to false.
public struct WaybillGateway: Sendable {
    /// The limits of a gateway, and the rules for its requests.
    public struct Configuration: Sendable {
        /// The host names of the server, without ports; by default the names of the local machine.
        ///
        /// Nil allows any host name. Use nil only behind a proxy that checks the host name. Names are stored
        /// in lower case.
        public var hosts: Set<String>? = ["localhost", "127.0.0.1", "[::1]"] {
            didSet { self.hosts = self.hosts.map { Set($0.map { $0.lowercased() }) } }
        }

        /// The other origins whose pages may use the gateway (CORS), such as `https://example.com`; none by
        /// default.
        ///
        /// Origins are stored in lower case.
        public var origins: Set<String> = [] {
            didSet { self.origins = Set(self.origins.map { $0.lowercased() }) }
        }

        /// The maximum number of bytes in the body of a request; 1 MiB by default.
        public var bodyLimit = 1 << 20

        /// The time limit of a call, and of the arrival of its body; 30 seconds by default.
        ///
        /// A client may set a shorter limit in milliseconds with the header `Waybill-Timeout`.
        public var timeout = Duration.seconds(30)

        /// The maximum number of calls whose handlers are running; 1,000 by default.
        ///
        /// A call counts until its handler has returned, even if its client has received a response before,
        /// for example because the deadline has passed. Publications and messages to return URLs count too.
        public var callLimit = 1000

        /// The maximum number of these calls of one client address; 100 by default, nil for no limit.
        ///
        /// The limit needs a context that provides addresses, and must be nil behind a proxy, as for
        /// ``streamsPerClient``.
        public var callsPerClient: Int? = 100

        /// The maximum number of bytes of these calls; 64 MiB by default.
        ///
        /// A call counts the length of its body, also while the body arrives, and 128 bytes for each value
        /// after the 16th. The calls of one client address may use half of the bytes, unless
        /// ``callsPerClient`` is nil. The limit is at least twice ``bodyLimit``.
        ///
        /// Replies of more than 64 KiB that clients have not read have a separate limit of the same size.
        /// Above that limit, a client receives the status 429 instead of such a reply. One larger reply is
        /// possible while no other large reply is unread.
        public var callBytes = 64 << 20

        /// Whether the server uses HTTP/2, in which a response must not contain the header `Connection`.
        ///
        /// In HTTP/2, the end of the connection looks like the end of a body. The gateway therefore rejects a
        /// body without the header `Content-Length`, with the status 411.
        ///
        /// In HTTP/1.1, the gateway uses this header to announce that it closes the connection after a
        /// response. The gateway closes the connection after a stream of events, and after a call of more
        /// than a few milliseconds.
        public var isHTTP2 = false

        /// Whether the gateway cancels a call or a stream when its client disconnects; true by default.
        ///
        /// Set the property to false if a middleware of Hummingbird replaces the bodies of requests by
        /// sequences, as a middleware that decompresses bodies does. Otherwise Hummingbird 2 ends the process
        /// when the gateway watches the connection of such a request.
        public var watchesConnections = true

        /// The names of the request headers that are copied to messages.
        ///
        /// By default, these are the headers of trace contexts. Names are stored in lower case, because the
        /// names of headers do not depend on case.
        public var headers: Set<String> = ["traceparent", "tracestate", "baggage"] {
            didSet { self.headers = Set(self.headers.map { $0.lowercased() }) }
        }

        /// The interval after which an idle stream sends a comment; 15 seconds by default.
        ///
        /// The comment prevents proxies from treating the stream as broken.
        public var heartbeat = Duration.seconds(15)

        /// The maximum number of open streams, and the maximum number of subscribed patterns; 1,000 by
        /// default.
        ///
        /// When the limit is reached, a new pattern replaces a pattern without clients.
        public var streamLimit = 1000

        /// The maximum number of open streams of one client address; 100 by default, nil for no limit.
        ///
        /// The value also limits the number of patterns that are kept for the return of this client. The
        /// limit needs a context that provides addresses (see ``WaybillGateway/routes(for:)``). Behind a
        /// proxy, all clients have the address of the proxy, so use nil there.
        public var streamsPerClient: Int? = 100

        /// The maximum time in which a client must read one event of a stream; 30 seconds by default.
        ///
        /// The gateway disconnects a client that is slower. It also disconnects a client that reads nothing
        /// of a reply of more than 64 KiB for this time, or for twice this time.
        public var stallTime = Duration.seconds(30)

        /// The maximum number of messages of a pattern that are kept for clients that return; 256 by default.
        public var replayLimit = 256

        /// The maximum number of bytes of all messages that are kept; 64 MiB by default.
        ///
        /// Above the limit, the oldest messages are dropped. A message that matches several patterns counts
        /// once. Messages that are being written to clients have a separate limit of the same size. Above
        /// that limit, a client receives the event `gap` instead of a message.
        public var replayBytes = 64 << 20

        /// The time for which messages are kept after the last client has left; one minute by default.
        ///
        /// If no client of a pattern has received an event, the pattern is not kept, because no client could
        /// resume the stream.
        public var replayTime = Duration.seconds(60)

        /// The time in which loops and readiness checks must respond; one second by default.
        ///
        /// If a loop or a check needs more time, the program is not ready.
        public var readinessTime = Duration.seconds(1)

        /// The logger for failures whose reasons are hidden from clients.
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
    let calls: ClientCount
    let unread: UnreadReplies
    let grace = GracePeriods()
    let readiness = SharedReadiness()
    private let document: LiveDocument
    /// The first loop of the bus, on which most calls begin.
    private let loop: EventLoopTaskExecutor

    /// Creates a gateway to a bus.
    ///
    /// The gateway keeps the bus alive. The initializer and each later change of the bus's routes build the
    /// document of the exposed routes, from which the gateway computes the fingerprint.
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
            isHTTP2: configuration.isHTTP2,
            watchesConnections: configuration.watchesConnections
        )
        // A program may set the limit of a body to the greatest integer.
        let (twoBodies, isTooLarge) = configuration.bodyLimit.multipliedReportingOverflow(by: 2)
        self.calls = ClientCount(
            of: "running calls",
            limit: configuration.callLimit,
            perClient: configuration.callsPerClient,
            byteLimit: isTooLarge ? .max : max(configuration.callBytes, twoBodies)
        )
        self.unread = UnreadReplies(
            byteLimit: configuration.callBytes,
            limitsClients: configuration.callsPerClient != nil,
            stallTime: configuration.stallTime
        )
        self.document = LiveDocument(of: bus, scope: .exposed)
        self.loop = bus.eventLoop.taskExecutor
    }

    /// Returns the loop of the handler for a request, on which the call begins.
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
        // Most contexts do not provide an address. Check the type once here, because a failed cast takes as
        // long as finding a route.
        let knowsAddress = context is any RemoteAddressRequestContext.Type
        routes.on("subscribe", method: .get) { request, context in
            let peer = knowsAddress ? (context as? any RemoteAddressRequestContext)?.remoteAddress : nil
            return await self.respond(to: request) {
                try await self.subscribe(request, from: peer?.ipAddress)
            }
        }
        routes.on("fingerprint", method: .get) { request, _ in
            await self.respond(to: request) {
                Response(json: try JSONWriter.encoded(await self.document.fingerprint))
            }
        }
        for method: HTTPRequest.Method in [.get, .post] {
            routes.on("**", method: method) { request, context in
                let peer = knowsAddress ? (context as? any RemoteAddressRequestContext)?.remoteAddress : nil
                return await self.respond(to: request) { try await self.call(request, context, from: peer) }
            }
        }
        self.refuse(Self.refusedMethods, at: "**", of: routes) { context in
            self.methodNotAllowed(context.parameters.getCatchAll())
        }
        // If a path lacks the method of a request, Hummingbird does not try the path `**`.
        for path: RouterPath in ["subscribe", "fingerprint"] {
            self.refuse(Self.refusedMethods + [.post], at: path, of: routes) { _ in
                Problem(.methodNotAllowed, "use GET", allowing: "GET")
            }
        }
        return routes
    }

    /// Adds the routes for preflight requests and for methods that are not allowed at a path.
    private func refuse<Context: RequestContext>(
        _ methods: [HTTPRequest.Method],
        at path: RouterPath,
        of routes: RouteCollection<Context>,
        _ problem: @escaping @Sendable (Context) -> Problem
    ) {
        for method in methods {
            routes.on(path, method: method) { request, context in
                await self.respond(to: request) { throw problem(context) }
            }
        }
        routes.on(path, method: .options) { request, context in
            await self.respond(to: request) {
                guard let response = self.preflight(request) else { throw problem(context) }
                return response
            }
        }
    }

    /// The methods that are rejected for every URL.
    ///
    /// For all other methods, a router responds in the same way as for an unknown path.
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
        // The server closes the connection of a request whose body has not arrived (RFC 9110, section 15.5.9).
        if response.status == .requestTimeout, !self.configuration.isHTTP2 {
            response.headers[.connection] = "close"
        }
        return request.method == .head ? response.createHeadResponse() : response
    }

    /// Returns the problem that a client receives for an error, and logs the details that the problem hides.
    ///
    /// The problem for an unknown URL contains similar exposed patterns.
    func problem(_ error: any Error, at url: String) -> Problem {
        var problem = Problem(error)
        if let error = error as? RoutingError, error.code == .noRoute {
            problem.suggestions = self.bus.explainExposed(error.url).nearest
        }
        guard let id = problem.id else { return problem }
        self.configuration.logger.error(
            "request failed",
            metadata: ["id": "\(id)", "url": "\(url.onShortLine)", "error": "\(error)"]
        )
        return problem
    }
}
#endif
