#if HTTP
internal import HTTPTypes
public import Hummingbird
public import Logging
public import Waybill
internal import WaybillDocuments
internal import WaybillEventLoop

/// A page that shows what a bus is and what it does, as routes of Hummingbird.
///
/// Make one to look into a running program: its routes, its messages as they pass with all that each leads
/// to, its dead letters, figures, and the nodes of its cluster.
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
/// It is for the operators of a program, on a server that listens to the machine itself: a person with the
/// link, which ``link(at:)`` makes, sees every URL that passes. It shows no values, and acts on nothing,
/// unless its ``Configuration`` says so. While no page is open the bus is not observed, and a message costs
/// what it costs without a console. <doc:TheConsole> says what it shows, what it costs, how it is kept safe,
/// and where it fails.
public struct WaybillConsole: Sendable {
    /// What a console shows, to whom, and how much of it is kept.
    public struct Configuration: Sendable {
        /// What the page calls the program; `waybill` by default.
        public var name = "waybill"

        /// What opens the page: 128 random bits by default, new each time.
        ///
        /// A token of a program's own has to be as hard to guess.
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

        /// The names that the server is reached by, without ports; those of the machine itself by default.
        ///
        /// Nil stands for any name, where a proxy in front has checked it.
        public var hosts: Set<String>? = ["localhost", "127.0.0.1", "[::1]"]

        /// About how many bytes are kept of what has passed; 32 MiB by default.
        public var memoryLimit = 32 << 20

        /// How often a page learns what has changed, in a second; 20 by default.
        public var updatesPerSecond = 20

        /// Whether the server speaks HTTP/2, in which a response must not have the header `Connection`.
        public var isHTTP2 = false

        /// Where acts are logged, and what goes wrong.
        public var logger: Logger

        /// How long a bus is observed after the last page was closed.
        var lingering = Duration.seconds(10)

        /// How much is recorded in a second.
        var recording = RecordingLimits()

        /// Makes a configuration; everything has a default.
        public init(logger: Logger = Logger(label: "waybill.console")) {
            self.token = ConsoleGate.newSecret()
            self.logger = logger
        }
    }

    let core: ConsoleCore

    /// Makes a console for a bus, which it holds.
    ///
    /// Dead letters are kept from now on; everything else is recorded while a page is open. The console
    /// describes all routes here and after each change: a type of a parameter or a reply that traps in
    /// `init(from:)` on small values ends the program here, and never when a page asks.
    ///
    /// - Parameters:
    ///   - bus: the bus.
    ///   - configuration: what is shown, and to whom.
    public init(_ bus: MessageBus, configuration: Configuration = Configuration()) {
        self.core = ConsoleCore(bus, configuration)
    }

    /// The address that opens the page, with the token: for the person who started the program.
    ///
    /// - Parameter address: where the routes were added, as a browser reaches it.
    /// - Returns: the link, which a browser has to open once; from then on it has a cookie.
    public func link(at address: String) -> String {
        let slash = address.hasSuffix("/") ? "" : "/"
        return "\(address)\(slash)?token=\(Self.escaped(self.core.configuration.token))"
    }

    /// The routes, for a router whose context is `BasicRequestContext`.
    public var routes: RouteCollection<BasicRequestContext> { self.routes(for: BasicRequestContext.self) }

    /// The routes, for a router with a context of its own.
    ///
    /// - Parameter context: the type of the context.
    /// - Returns: what is added to the router.
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

/// What a console is made of.
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
        // What is kept of messages, and a part of it for dead letters.
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
