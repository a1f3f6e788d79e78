public import Waybill

/// Tests a module by its scheme: its conventions, all of its URLs, and URLs that it must reject.
///
/// ```swift
/// let bus = MessageBus()
/// try await bus.install { OrderModule() }
/// let report = try await ModuleTestCase(scheme: "order", on: bus, values: ["color": "red"]).run()
/// print(report)
/// ```
///
/// **Conventions.** The scheme has routes, or it is connected with `connectModules()` and a module has its
/// name. In the second case the methods of the module are its URLs. Each URL has a handler that can be
/// reached. The test can create a value for each required parameter, or finds it among the given values and
/// arguments. If the options ask for it, each route is documented and has the names of its scheme, and all
/// patterns of a configuration file are registered.
///
/// **Correct URLs.** The test forwards URLs with generated values of the right types to each route, several
/// times. A handler may reply. It may also fail with `handlerFailed` or `refused`, because the test cannot
/// know which orders exist. The options can forbid these failures. Any other error is a problem, for example
/// `missingParameter`, `invalidParameter` or `noHandler`, and so is an error of a message that the handler
/// sent. A route that does not answer in time is a problem as well.
///
/// **Wrong URLs.** In ten rounds the test forwards URLs with missing, wrong, very long or hostile values to
/// each route, and random URLs to the scheme. Any reply and any error is right, as long as the caller
/// receives it. A route that does not answer in time, waits for itself, or forwards messages without end is a
/// problem.
///
/// The test calls the handlers with generated values. Give the bus stubs for modules that the tested module
/// must not reach. A trap ends the test process. The printed seed reproduces the URLs.
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

        /// The configuration of the scheme from its file, or nil if it has none.
        ///
        /// Each pattern of the configuration must have the scheme, and must be registered.
        public var configuration: RouteConfiguration?

        /// Whether a handler may fail by itself, or refuse, when it is given made-up values.
        public var mayFail = true

        /// The seed of the generated values; nil for a new seed in each run.
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

    /// Creates a test case.
    ///
    /// - Parameters:
    ///   - scheme: The scheme of the module's URLs.
    ///   - bus: A bus on which the module and its dependencies are installed.
    ///   - values: The text of parameters by name, for every URL that has them. Use it for types whose values
    ///     cannot be generated, such as enumerations, and for values that must exist.
    ///   - arguments: The arguments of every call that are not text: closures, actors, `Codable` values.
    ///   - options: The options of the test.
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

    /// Runs the test.
    ///
    /// - Returns: The report, with the number of URLs and the duration.
    /// - Throws: ``ModuleTestFailure`` with the report. It names each problem with its route and URL.
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
