public import Waybill

/// Puts a module to the test by its scheme alone: its conventions, every one of its URLs, and URLs that it
/// should not take.
///
/// ```swift
/// let bus = MessageBus()
/// try await bus.install { OrderModule() }
/// let report = try await ModuleTestCase(scheme: "order", on: bus, values: ["color": "red"]).run()
/// print(report)
/// ```
///
/// **Conventions.** The scheme has routes, or is connected (`connectModules()`) and has a module that is
/// named for it, whose methods are its URLs then; each has a handler and can be reached; each parameter that
/// a route needs is of a type for which values can be made up, or is among the values or arguments that were
/// given;
/// and, if that is asked for, each route is documented and has the names that its scheme stands for, and what
/// a configuration file says is registered.
///
/// **Right URLs.** Each route, those of a configuration included, is forwarded a URL with made-up values of
/// the right types, some times over. It may reply, and it may fail by itself, since an order that exists
/// cannot be made up: `handlerFailed` and `refused` are counted, and no problem unless that is asked for. Any
/// other error is one: `missingParameter`, `invalidParameter`, `noHandler` and so on, and that of a message
/// which the handler sent in turn; and so is a route that has not answered in time.
///
/// **Wrong URLs.** In ten rounds each route is forwarded URLs with values that are missing, of the wrong
/// type, far too long or hostile, and the scheme random ones. Any reply and any error will do, for a wrong
/// URL must give an error and the caller must have it: a problem is a route that does not answer in time,
/// waits for itself, or routes on and on.
///
/// Handlers are really called, with made-up values: give the bus stubs for what a module should not reach.
/// What cannot be caught is a trap, which ends the test process; the seed that is printed makes the same URLs
/// again.
public struct ModuleTestCase: Sendable {
    /// How a test case is run.
    public struct Options: Sendable {
        /// How often each route is forwarded a right URL.
        public var repetitions = 10

        /// How many rounds of wrong URLs there are.
        public var rounds = 10

        /// How long each message may take, in the system's time.
        public var limit = Duration.seconds(2)

        /// Whether each route has to have a documentation comment.
        public var needsDocumentation = false

        /// Whether the names follow the scheme: `order://detail` is the method `detail` of `OrderModule` or
        /// `OrderController`; false by default.
        ///
        /// A pattern that a configuration gives a method may be any, and so may the pattern of a closure,
        /// which joins a component that does not know the bus.
        public var followsNames = false

        /// The configuration of the scheme, as its file says it; nil if it has none.
        ///
        /// Each of its patterns has to be of the scheme, and registered.
        public var configuration: RouteConfiguration?

        /// Whether a handler may fail by itself, or refuse, when it is given made-up values.
        public var mayFail = true

        /// What the made-up values are derived from; nil for another one each time.
        public var seed: UInt64?

        /// Whether the seed is printed when the test case begins.
        public var printsSeed = true

        /// The options that most modules need.
        public init() {}

        /// The options that check COCRouter's conventions: names follow the scheme.
        ///
        /// A module with a configuration sets ``configuration`` as well; `WaybillConfiguration` finds the
        /// file by the name of the scheme: `RouteConfiguration(ofScheme: "order", in: folder)`.
        public static var cocRouter: Self {
            var options = Self()
            options.followsNames = true
            return options
        }
    }

    let scheme: String
    let bus: MessageBus
    let values: [String: String]
    let arguments: [String: any Sendable]
    let options: Options

    /// Makes a test case.
    ///
    /// - Parameters:
    ///   - scheme: the scheme of the module's URLs.
    ///   - bus: a bus on which the module is installed, and whatever it needs.
    ///   - values: the text of parameters, by name, that goes into every URL which has them: for types whose
    ///     values cannot be made up, an enumeration for example, and for values that have to exist.
    ///   - arguments: what is passed with every call and is no text: closures, actors, `Codable` values.
    ///   - options: how it is run.
    public init(
        scheme: String,
        on bus: MessageBus,
        values: [String: String] = [:],
        arguments: [String: any Sendable] = [:],
        options: Options = Options()
    ) {
        self.scheme = scheme.lowercased()
        self.bus = bus
        self.values = values
        self.arguments = arguments
        self.options = options
    }

    /// Runs it.
    ///
    /// - Returns: what it took, and how long.
    /// - Throws: ``ModuleTestFailure``, which holds the report and names each problem, its route and its URL.
    @discardableResult
    public func run() async throws(ModuleTestFailure) -> ModuleTestReport {
        let report = await self.report()
        guard report.problems.isEmpty else { throw ModuleTestFailure(report: report) }
        return report
    }

    /// Runs it, and leaves it to the caller to look at the problems.
    public func report() async -> ModuleTestReport {
        let seed = self.options.seed ?? .random(in: 0...UInt64(UInt32.max))
        if self.options.printsSeed { print("module test case `\(self.scheme)`: seed \(seed)") }
        var run = ModuleTestRun(self, seed: seed)
        run.checkConventions()
        if self.options.followsNames { run.checkNames() }
        if let configuration = self.options.configuration { run.check(configuration) }
        await run.forwardRightURLs()
        await run.forwardWrongURLs()
        return run.report
    }
}
