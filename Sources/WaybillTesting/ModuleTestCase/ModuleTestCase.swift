public import Waybill

/// A test of all routes whose URLs have a given scheme.
///
/// The test checks how the routes are declared. The test then calls each route with generated URLs that the
/// route should accept, and with URLs that the route should reject.
///
/// ```swift
/// let bus = MessageBus()
/// try await bus.install { OrderModule() }
/// let report = try await ModuleTestCase(scheme: "order", on: bus, values: ["color": "red"]).run()
/// print(report)
/// ```
///
/// **Conventions.** At least one route must have the scheme. `connectModules()` of `WaybillCompatibility`
/// also counts: it connects the scheme to the module of the same name, and each URL then names a method. Each
/// route must have a handler and be reachable. Each parameter that a route requires must have a type for
/// which values can be generated, or be among the given values or arguments. The options can add three more
/// checks: each route is documented, modules and methods have the names that the URLs contain, and all routes
/// of a configuration are registered.
///
/// **Correct URLs.** Each route receives URLs with generated values of the correct types, a number of times.
/// The routes of a configuration are included. A route may reply. By default, a route may also fail with
/// `handlerFailed` or `refused`, because a generated order number, for example, does not exist. Any other
/// error is a problem, for example `missingParameter`, `invalidParameter` or `noHandler`. An error of another
/// message that the handler sends is a problem too. A route that does not reply in time is also a problem.
///
/// **Wrong URLs.** In several rounds, each route receives URLs whose values are missing, have the wrong type,
/// are far too long, or are hostile. The scheme also receives random URLs. Every reply and every error is
/// accepted. A route has a problem if it does not reply in time, if its message waits for itself
/// (`deadlock`), or if its messages cause further messages without end (`hopLimitExceeded`).
///
/// The handlers are really called with generated values. Register stubs on the bus for modules that the
/// handlers must not reach. A test case cannot catch a trap, which ends the test process. Set the printed
/// seed in ``Options/seed`` to generate the same URLs again.
public struct ModuleTestCase: Sendable {
    /// The options of a test case.
    public struct Options: Sendable {
        /// The number of correct URLs that each route receives.
        public var repetitions = 10

        /// The number of rounds with wrong URLs.
        public var rounds = 10

        /// The maximum time for each message, in real time.
        public var limit = Duration.seconds(2)

        /// Whether each route must have a documentation comment.
        public var needsDocumentation = false

        /// Whether modules and methods must have the names that their URLs contain; false by default.
        ///
        /// For example, `order://detail` must be the method `detail` of `OrderModule` or `OrderController`.
        /// The path may have another name than the method if a configuration sets the pattern of the method.
        /// The test does not check the names in the patterns of closures, because a closure connects a
        /// component that does not know the bus.
        public var followsNames = false

        /// The configuration of the scheme, as its file contains it; nil if the scheme has no configuration.
        ///
        /// Each pattern of the configuration must have the scheme and be registered.
        public var configuration: RouteConfiguration?

        /// Whether a handler may fail with `handlerFailed`, or refuse the request, when it receives generated
        /// values.
        public var mayFail = true

        /// The seed of the generated values; nil for a new seed each time.
        public var seed: UInt64?

        /// Whether the seed is printed at the beginning of the test case.
        public var printsSeed = true

        /// Creates the options that most modules need.
        public init() {}

        /// The options that check the conventions of the COCRouter library: modules and methods have the
        /// names in the URLs.
        ///
        /// If a module has a configuration, set ``configuration`` too. `WaybillConfiguration` finds the file
        /// by the name of the scheme: `RouteConfiguration(ofScheme: "order", in: folder)`.
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
    ///   - values: The texts of parameters, by name, for all URLs that have these parameters. Pass texts for
    ///     types whose values cannot be generated, for example an enumeration, and for values that must
    ///     exist.
    ///   - arguments: Values that are not text and are passed with every call: closures, actors, `Codable`
    ///     values.
    ///   - options: The options of the test case.
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

    /// Runs the test case, and throws an error if it finds problems.
    ///
    /// - Returns: The report, with the times of the routes.
    /// - Throws: ``ModuleTestFailure`` with the report. The report names each problem with its route and its
    ///   URL.
    @discardableResult
    public func run() async throws(ModuleTestFailure) -> ModuleTestReport {
        let report = await self.report()
        guard report.problems.isEmpty else { throw ModuleTestFailure(report: report) }
        return report
    }

    /// Runs the test case, and returns the report without throwing an error for problems.
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
