#if HTTP
internal import HTTPTypes
public import Hummingbird
public import Logging
public import Waybill
internal import WaybillDocuments
internal import WaybillEventLoop

/// A web page that shows the state of a bus, as routes of Hummingbird.
///
/// Use it to look into a running program: its routes, its messages with all messages that they cause, its
/// dead letters, statistics, and the nodes of its cluster.
///
/// ```swift
/// import Hummingbird
/// import WaybillConsole
///
/// let console = WaybillConsole(bus)
/// let router = Router()
/// router.addRoutes(console.routes, atPath: "/console")
/// print(console.link(at: "http://127.0.0.1:8080/console"))
/// ```
///
/// The console is for the operators of a program, on a server that listens on the local machine. A person
/// with the link from ``link(at:)`` sees the URL of every message. The console shows no values and performs
/// no actions, unless its ``Configuration`` permits them. While no page is open, the bus is not observed and
/// messages cost nothing more. <doc:TheConsole> describes the page, its cost, its protection and its limits.
public struct WaybillConsole: Sendable {
    /// The contents, the access and the limits of a console.
    public struct Configuration: Sendable {
        /// The name of the program on the page; `waybill` by default.
        public var name = "waybill"

        /// The secret that opens the page; by default 128 random bits, which are new each time.
        ///
        /// A token that the program sets must be as hard to guess.
        public var token: String

        /// Whether the page may call routes and send dead letters once more; false by default.
        ///
        /// Each act is a line in the log.
        public var allowsActions = false

        /// Whether values are shown, as short JSON; false by default.
        ///
        /// Otherwise their types and counts are: `[Order](3)`.
        ///
        /// URLs are always shown, with their parameters, and so are the names of types.
        public var showsPayloads = false

        /// The names of values that are never shown: in queries, paths, parameters, headers, and the
        /// properties of values.
        ///
        /// A name that contains one of these counts as well; case, `-` and `_` make no difference.
        public var redactedNames: Set<String> = [
            "password", "passwd", "passphrase", "token", "secret", "authorization", "cookie", "session",
            "key",
            "apikey", "credential", "signature",
        ]

        /// The host names of the server, without ports; by default the names of the local machine.
        ///
        /// Nil permits any name, for a server behind a proxy that has checked the name.
        public var hosts: Set<String>? = ["localhost", "127.0.0.1", "[::1]"]

        /// The approximate number of bytes for recorded messages; 32 MiB by default.
        public var memoryLimit = 32 << 20

        /// How often a page learns what has changed, in a second; 20 by default.
        public var updatesPerSecond = 20

        /// Whether the server speaks HTTP/2, in which a response must not have the header `Connection`.
        public var isHTTP2 = false

        /// The logger of actions and errors.
        public var logger: Logger

        /// How long a bus is observed after the last page was closed.
        var lingering = Duration.seconds(10)

        /// How much is recorded in a second.
        var recording = RecordingLimits()

        /// Creates a configuration; everything has a default.
        public init(logger: Logger = Logger(label: "waybill.console")) {
            self.token = ConsoleGate.newSecret()
            self.logger = logger
        }
    }

    let core: ConsoleCore

    /// Creates a console for a bus, which it retains.
    ///
    /// The console keeps dead letters from now on. It records other messages while a page is open. It
    /// describes all routes here and after each change. If `init(from:)` of a parameter or reply traps on
    /// small values, the program ends here and never because of a request of the page.
    ///
    /// - Parameters:
    ///   - bus: The bus.
    ///   - configuration: The contents, the access and the limits.
    public init(_ bus: MessageBus, configuration: Configuration = Configuration()) {
        self.core = ConsoleCore(bus, configuration)
    }

    /// The address that opens the page, with the token: for the person who started the program.
    ///
    /// - Parameter address: Where the routes were added, as a browser reaches it.
    /// - Returns: The link, which a browser has to open once; from then on it has a cookie.
    public func link(at address: String) -> String {
        let slash = address.hasSuffix("/") ? "" : "/"
        return "\(address)\(slash)?token=\(Self.escaped(self.core.configuration.token))"
    }

    /// The routes, for a router whose context is `BasicRequestContext`.
    public var routes: RouteCollection<BasicRequestContext> { self.routes(for: BasicRequestContext.self) }

    /// Returns the routes for a router with its own context type.
    ///
    /// - Parameter context: The type of the context.
    /// - Returns: The routes to add to the router.
    public func routes<Context: RequestContext>(for context: Context.Type) -> RouteCollection<Context> {
        let routes = RouteCollection(context: context)
        let server = ConsoleServer(self.core)
        for method in ConsoleServer.methods {
            for path: RouterPath in ["", "**"] {
                routes.on(path, method: method) { request, context in
                    await server.respond(to: request, context.parameters.getCatchAll())
                }
            }
        }
        return routes
    }

    private static func escaped(_ token: String) -> String {
        token.utf8.reduce(into: "") { text, byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                UInt8(ascii: "."):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
    }
}

/// The state of a console.
final class ConsoleCore: Sendable {
    let bus: MessageBus
    let configuration: WaybillConsole.Configuration
    let recorder: Recorder
    let watch: Watch
    let letters: LetterBox
    let board: StatisticsBoard
    let gate: ConsoleGate
    let document: LiveDocument
    private let forgetLetters: @Sendable () -> Void

    init(_ bus: MessageBus, _ configuration: WaybillConsole.Configuration) {
        self.bus = bus
        self.configuration = configuration
        let writer = ValueWriter(
            redaction: Redaction(configuration.redactedNames),
            showsPayloads: configuration.showsPayloads
        )
        var limits = configuration.recording
        // Six eighths of the memory are for messages, and a part of the rest is for dead letters.
        let memory = max(1 << 20, configuration.memoryLimit)
        limits.bytes = memory / 8 * 6
        let catalog = RouteCatalog(bus)
        catalog.update(bus)
        let recorder = Recorder(writer, catalog: catalog, limits: limits, start: .now)
        let letters = LetterBox(recorder, bytes: memory / 8, keepsMessages: configuration.allowsActions)
        let watch = Watch(bus, recorder, lingering: configuration.lingering)
        self.recorder = recorder
        self.letters = letters
        self.watch = watch
        self.board = StatisticsBoard(bus, recorder)
        self.gate = ConsoleGate(configuration)
        self.document = LiveDocument(of: bus, scope: .all)
        self.forgetLetters = bus.observeDeadLetters { letter in
            letters.take(letter)
            if watch.isOn { recorder.take(letter) }
        }
    }

    deinit { self.forgetLetters() }
}
#endif
