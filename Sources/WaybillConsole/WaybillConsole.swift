#if HTTP
internal import HTTPTypes
public import Hummingbird
public import Logging
public import Waybill
internal import WaybillDocuments
internal import WaybillEventLoop

/// A web page that shows the structure and the activity of a bus, as routes of Hummingbird.
///
/// Create a console to inspect a running program. The console shows the routes, each message with the
/// messages that it caused, the dead letters, statistics, the nodes of the cluster, and durable stores.
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
/// A console is for the operators of a program, on a server that listens only on the local machine. A person
/// with the link, which ``link(at:)`` returns, sees the URL of every message. The console shows no values and
/// allows no actions, unless its ``Configuration`` permits them. While no page is open, the bus is not
/// observed, and a message costs the same as without a console. <doc:TheConsole> describes the page, its
/// cost, its security, and its limits.
public struct WaybillConsole: Sendable {
    /// The configuration of a console: its contents, its access control, and its memory.
    public struct Configuration: Sendable {
        /// The name of the program on the page; `waybill` by default.
        public var name = "waybill"

        /// The token that opens the page.
        ///
        /// By default, the token consists of 128 random bits, which are new for each configuration.
        ///
        /// If you set a token, choose a token that is equally hard to guess.
        public var token: String

        /// Whether the page may call routes and send dead letters again; false by default.
        ///
        /// Each action is logged.
        public var allowsActions = false

        /// The URLs of the durable stores on the page; none by default.
        ///
        /// The program registers the routes below a URL with `MessageBus.registerOperations(of:at:)` of
        /// WaybillDurable. The default URL of this method is `app://store`. The page calls these routes while
        /// it shows the stores. The routes need not be exposed to other processes.
        public var stores: [String] = []

        /// Whether values are shown, as short JSON; false by default.
        ///
        /// If this property is false, the types and counts of values are shown, such as `[Order](3)`.
        ///
        /// URLs are always shown with their parameters, and the names of types are always shown.
        public var showsPayloads = false

        /// The names whose values are never shown.
        ///
        /// The names apply to queries, paths, parameters, headers, and properties of values.
        ///
        /// A name that contains one of these names is hidden as well. Case, `-` and `_` are ignored.
        public var redactedNames: Set<String> = [
            "password", "passwd", "passphrase", "token", "secret", "authorization", "cookie", "session",
            "key",
            "apikey", "credential", "signature",
        ]

        /// The host names by which clients reach the server, without ports; by default the names of the local
        /// machine.
        ///
        /// Nil allows any host name. Use nil if a proxy in front of the server has checked the host name.
        public var hosts: Set<String>? = ["localhost", "127.0.0.1", "[::1]"]

        /// The approximate number of bytes of messages and dead letters that are kept; 32 MiB by default.
        public var memoryLimit = 32 << 20

        /// The number of updates that a page receives per second; 20 by default.
        public var updatesPerSecond = 20

        /// Whether the server speaks HTTP/2, in which a response must not have the header `Connection`.
        public var isHTTP2 = false

        /// The logger for actions and errors.
        public var logger: Logger

        /// How long the bus is observed after the last page was closed.
        var lingering = Duration.seconds(10)

        /// The limits of the recording.
        var recording = RecordingLimits()

        /// Creates a configuration with the default values.
        public init(logger: Logger = Logger(label: "waybill.console")) {
            self.token = ConsoleGate.newSecret()
            self.logger = logger
        }
    }

    let core: ConsoleCore

    /// Creates a console, which retains its bus.
    ///
    /// Dead letters are kept from this moment on. Everything else is recorded only while a page is open.
    ///
    /// This initializer describes all routes, and each change of the routes describes them again. To find the
    /// properties of parameter types and reply types, the console calls the `init(from:)` of these types with
    /// small values. If an `init(from:)` traps, the program ends during this initializer or during the
    /// change, and not when a page sends a request.
    ///
    /// - Parameters:
    ///   - bus: The bus.
    ///   - configuration: The contents and the access control of the console.
    public init(_ bus: MessageBus, configuration: Configuration = Configuration()) {
        self.core = ConsoleCore(bus, configuration)
    }

    /// Returns the link that opens the page.
    ///
    /// The link contains the token, so give it only to the person who started the program.
    ///
    /// - Parameter address: The URL of the console's routes, as a browser reaches them.
    /// - Returns: The link. After a browser has opened the link once, the browser has a session cookie.
    public func link(at address: String) -> String {
        let slash = address.hasSuffix("/") ? "" : "/"
        return "\(address)\(slash)?token=\(Self.escaped(self.core.configuration.token))"
    }

    /// The routes, for a router whose context is `BasicRequestContext`.
    public var routes: RouteCollection<BasicRequestContext> { self.routes(for: BasicRequestContext.self) }

    /// Returns the routes for a router with another type of context.
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

/// The parts of a console, which all routes of the console share.
final class ConsoleCore: Sendable {
    let bus: MessageBus
    let configuration: WaybillConsole.Configuration
    let recorder: Recorder
    let watch: Watch
    let letters: LetterBox
    let board: StatisticsBoard
    let gate: ConsoleGate
    let document: LiveDocument
    /// A random text, by which a page notices that the program was started again.
    let instance = ConsoleGate.newSecret()
    /// The last answer to a request for the durable stores, and its time.
    let knownStores = Locked<(time: Double, json: [UInt8])?>(nil)
    private let forgetLetters: @Sendable () -> Void

    init(_ bus: MessageBus, _ configuration: WaybillConsole.Configuration) {
        self.bus = bus
        self.configuration = configuration
        let writer = ValueWriter(
            redaction: Redaction(configuration.redactedNames),
            showsPayloads: configuration.showsPayloads
        )
        var limits = configuration.recording
        // The recorded flows receive six eighths of the memory, and the dead letters receive one eighth.
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
