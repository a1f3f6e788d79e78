import Testing
import Waybill
import WaybillCompatibility
import WaybillRouting
import WaybillTestSupport
import WaybillTesting

@Suite(.timeLimit(.minutes(1)))
struct ModuleTestCaseTests {
    private let bus = MessageBus(configuration: .quiet)

    private var options: ModuleTestCase.Options {
        var options = ModuleTestCase.Options()
        options.limit = .seconds(30)
        options.printsSeed = false
        options.seed = 7
        return options
    }

    /// The options of a test in which a route hangs.
    ///
    /// On a slow machine, other routes may exceed the limit too.
    private var impatient: ModuleTestCase.Options {
        var options = self.options
        options.limit = Scale.whileQuick / 4
        return options
    }

    private func test(_ scheme: String = "order") -> ModuleTestCase {
        ModuleTestCase(scheme: scheme, on: self.bus, options: self.options)
    }

    @Test func `the module test case finds no problem in a correct module, and measures its routes`()
        async throws
    {
        try await self.bus.install { OrderModule() }
        let test = ModuleTestCase(
            scheme: "order",
            on: self.bus,
            values: ["color": "red"],
            arguments: ["paySuccess": { @Sendable (_: Int) in } as @Sendable (Int) -> Void],
            options: self.options
        )
        let report = try await test.run()
        #expect(
            report.timings.map(\.route).sorted() == OrderModule.routes.map(\.description.pattern).sorted()
        )
        #expect(report.timings.allSatisfy { $0.count == 10 && $0.median <= $0.maximum })
        #expect(report.timings.filter { $0.route != "order://find/:id" }.allSatisfy { $0.replies == 10 })
        #expect(report.forwarded > 10 * OrderModule.routes.count)
        #expect("\(report)".contains("order://detail/:uid: median"))
    }

    @Test func `the module test case finds a route that hangs`() async throws {
        try self.bus.stub("order://hang/:id", .never)
        try self.bus.stub("order://fine", .value(1))
        let test = ModuleTestCase(scheme: "order", on: self.bus, options: self.impatient)
        let problems = await test.report().problems.filter { $0.route == "order://hang/:id" }
        let problem = try #require(problems.first)
        #expect(problems.count == 1)
        #expect(problem.url.hasPrefix("order://hang/"))
        #expect(problem.message.contains("hangs"))
        await #expect(throws: ModuleTestFailure.self) { try await test.run() }
    }

    @Test func `the module test case finds a route that hangs only when its URL is wrong`() async throws {
        try self.bus.register("order://page/:number") { message async throws -> Int in
            if let number: Int = try? message.parameters.require("number") { return number }
            try await Task.sleep(for: .seconds(30))
            return 0
        }
        let test = ModuleTestCase(
            scheme: "order",
            on: self.bus,
            values: ["number": "1"],
            options: self.impatient
        )
        let problems = await test.report().problems
        #expect(problems.contains { $0.route == "order://page/:number" && $0.message.contains("hangs") })
    }

    @Test func `the module test case finds a configured route without a handler`() async throws {
        try await self.bus.install { OrderModule() }
        try self.bus.load(["order://old/<int:id>": "NobodyModule.detail", "order://list": "OrderModule.all"])
        let problems = await self.test().report().problems
        let ours = problems.filter { $0.route == "order://old/<int:id>" }
        #expect(ours.contains { $0.url.isEmpty && $0.code == .noHandler })
        #expect(ours.contains { $0.url.hasPrefix("order://old/") && $0.code == .noHandler })
        #expect(!problems.contains { $0.route == "order://list" })
    }

    @Test func `the module test case finds a parameter that its handler cannot read`() async throws {
        // The handler reads another type than its pattern declares.
        try self.bus.register("order://page/<string:number>") { message -> Int in
            try message.parameters.require("number")
        }
        try self.bus.register("order://missing") { message -> Int in try message.parameters.require("uid") }
        let problems = await self.test().report().problems
        #expect(problems.map(\.code) == [.invalidParameter, .missingParameter])
        #expect(problems.map(\.route) == ["order://page/<string:number>", "order://missing"])
        #expect(problems.first?.message.contains("number") == true)
    }

    @Test func `the module test case finds parameters whose values it cannot generate`() async throws {
        try await self.bus.install { OrderModule() }
        let problems = await self.test().report().problems
        #expect(problems.map(\.route).sorted() == ["order://paint", "order://pay"])
        #expect(problems.contains { $0.message.contains("`color`") && $0.message.contains("Color") })
    }

    @Test func `the module test case needs given values for arrays of structures and for closures`()
        async throws
    {
        try await self.bus.install { ArrayModule() }
        let problems = await self.test("arrays").report().problems
        #expect(problems.map(\.route).sorted() == ["arrays://counts", "arrays://pieces"])
        let sentence = "the test case cannot generate a value of the type [Piece] for `pieces`; "
        #expect(problems.contains { $0.url.isEmpty && $0.message.hasPrefix(sentence) })
        let given = ModuleTestCase(
            scheme: "arrays",
            on: self.bus,
            arguments: ["pieces": [Piece(name: "a")], "counts": ["a": 1]],
            options: self.options
        )
        let report = await given.report()
        #expect(report.problems.isEmpty)
        #expect("\(report)".contains(": 0 problems, 3 routes,"))
    }

    @Test func `the module test case finds a route that calls itself`() async throws {
        let bus = self.bus
        try bus.register("order://round/:id") { [weak bus] message async throws -> Int in
            try await bus?.route("order://round/1", as: Int.self) ?? 0
        }
        let problems = await self.test().report().problems
        #expect(problems.map(\.route) == ["order://round/:id"])
    }

    @Test func `the module test case reports a handler's failure if the options require it`() async throws {
        try self.bus.register("order://find/:id") { _ in throw RoutingError.refused("no such order") }
        #expect(await self.test().report().problems.isEmpty)
        var options = self.options
        options.mayFail = false
        let strict = ModuleTestCase(scheme: "order", on: self.bus, options: options)
        #expect(await strict.report().problems.map(\.code) == [.refused])
    }

    @Test func `the module test case reports routes without documentation if the options require it`()
        async throws
    {
        try self.bus.stub("order://fine", .value(1))
        var options = self.options
        options.needsDocumentation = true
        let report = await ModuleTestCase(scheme: "order", on: self.bus, options: options).report()
        #expect(report.problems.map(\.message) == ["the route has no documentation comment"])
    }

    @Test func `the module test case reports a scheme without routes, and names the other schemes`()
        async throws
    {
        try self.bus.stub("order://fine", .value(1))
        let problems = await self.test("ordre").report().problems
        #expect(problems.count == 1)
        #expect(problems.first?.message.contains("order") == true)
    }

    @Test func `the module test case sends the same URLs for the same seed`() async throws {
        try await self.bus.install { OrderModule() }
        var urls: [[String]] = []
        for _ in 0..<2 {
            let recorder = MessageRecorder(on: self.bus)
            _ = await self.test().report()
            urls.append(recorder.messages.map(\.url))
        }
        #expect(!urls[0].isEmpty)
        #expect(urls[0] == urls[1])
    }

    @Test func `the module test case works on a bus whose manual clock stands still`() async throws {
        let bus = MessageBus(clock: ManualClock(), configuration: .quiet)
        try bus.stub("order://fine", .value(1))
        let fine = await ModuleTestCase(scheme: "order", on: bus, options: self.options).report()
        #expect(fine.problems.isEmpty)
        try bus.stub("order://slow", .never)
        let slow = await ModuleTestCase(scheme: "order", on: bus, options: self.impatient).report()
        #expect(slow.problems.contains { $0.route == "order://slow" && $0.message.contains("hangs") })
    }

    @Test func `the module test case checks names against the scheme if the options require it`() async throws
    {
        try await self.bus.install { OrderModule() }
        try await self.bus.install { ArrayModule() }
        var options = self.options
        options.followsNames = true
        let orders = await ModuleTestCase(
            scheme: "order",
            on: self.bus,
            values: ["color": "red"],
            arguments: ["paySuccess": { @Sendable (_: Int) in } as @Sendable (Int) -> Void],
            options: options
        ).report()
        #expect(orders.problems.isEmpty, "\(orders)")
        try self.bus.register("arrays://closure") { _ in 1 }
        try self.bus.load(["arrays://sums": "Array.counts"])
        let arrays = await ModuleTestCase(
            scheme: "arrays",
            on: self.bus,
            arguments: [
                "colors": [OrderModule.Color.red], "pieces": [Piece(name: "a")], "counts": ["a": 1],
            ],
            options: options
        ).report()
        let said = Set(arrays.problems.map(\.description))
        #expect(
            said.contains(
                "arrays://sums: the method is `counts`, but the path begins with `sums`: use one name"
            )
        )
        // The closure connects a component that does not know the bus, so its name is not checked.
        #expect(!said.contains { $0.hasPrefix("arrays://closure") })
        #expect(
            said.contains(
                "arrays://colors: the module is ArrayModule: name it ArraysModule or ArraysController"
            )
        )
    }

    @Test func `the module test case reports a configuration that is not loaded into the bus`() async throws {
        try await self.bus.install { ArrayModule() }
        let configuration: RouteConfiguration = [
            "arrays://sums": "Array.counts", "other://sums": "Array.counts",
        ]
        var options = self.options
        options.configuration = configuration
        let test = ModuleTestCase(
            scheme: "arrays",
            on: self.bus,
            arguments: ["colors": [1], "pieces": [Piece(name: "a")], "counts": ["a": 1]],
            options: options
        )
        let before = Set(await test.report().problems.map(\.message))
        #expect(before.contains { $0.contains("load the configuration into the bus first") })
        #expect(before.contains { $0.contains("belongs to another scheme") })
        try self.bus.load(configuration)
        let after = Set(await test.report().problems.map(\.message))
        #expect(!after.contains { $0.contains("load the configuration into the bus first") })
    }

    @Test func `the module test case tests a module that is found by convention`() async throws {
        try await self.bus.install { ReturnController() }
        var options = ModuleTestCase.Options.cocRouter
        options.printsSeed = false
        options.seed = 7
        let test = ModuleTestCase(scheme: "return", on: self.bus, options: options)
        let unconnected = await test.report().problems.map(\.message)
        #expect(unconnected.count == 1)
        #expect(unconnected[0].contains("`bus.connectModules()` of WaybillCompatibility connects the scheme"))
        #expect(unconnected[0].contains("to ReturnController"))
        try self.bus.connectModules()
        // COCRouter's `<id>` at the end of a pattern is a rest too.
        try self.bus.load(["return://one/<path:id>": "detail"])
        options.configuration = ["return://one/<path:id>": "detail"]
        let recorder = MessageRecorder(on: self.bus)
        let report = try await ModuleTestCase(scheme: "return", on: self.bus, options: options).run()
        #expect(
            report.timings.map(\.route).sorted() == [
                "return://all", "return://detail", "return://one/<path:id>",
            ]
        )
        #expect(report.timings.allSatisfy { $0.replies == 10 })
        #expect(recorder.messages.contains { $0.url.hasPrefix("return://detail?id=") })
    }
}

/// A module whose routes have a scheme that differs from the module's name.
private actor ReturnController: Module {
    static let url = "app://returns"
    nonisolated let context = ModuleContext.current

    static var routes: [ModuleRoute<ReturnController>] {
        [
            ModuleRoute("app://returns/detail", action: "detail", parameters: [.init("id", "Int")]) {
                _,
                message -> Int in try message.argument("id")
            },
            ModuleRoute("app://returns/all", action: "all") { _, _ in 1 },
        ]
    }
}
