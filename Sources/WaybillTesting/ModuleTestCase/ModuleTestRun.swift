internal import Waybill
internal import WaybillRouting

/// A running test case: it collects the problems and the times for the report.
struct ModuleTestRun {
    let test: ModuleTestCase
    var report: ModuleTestReport
    var samples: RouteSamples
    let routes: [SampledRoute]
    /// The methods of the modules whose name matches the scheme.
    ///
    /// The routes of these methods may have any scheme.
    private let namesakes: [RouteDescription]

    init(_ test: ModuleTestCase, seed: UInt64) {
        self.test = test
        self.report = ModuleTestReport(scheme: test.scheme, seed: seed)
        self.samples = RouteSamples(seed: seed, test)
        let described = test.bus.describedRoutes
        let own = described.filter { $0.pattern.scheme.lowercased() == test.scheme }
            .map { SampledRoute(pattern: $0.pattern, description: $0.description) }
        self.namesakes = described.map(\.description).filter { description in
            description.module.map { ModuleName($0).schemeKey } == test.scheme
        }
        let isConnected = test.bus.connectedSchemes.contains { $0.lowercased() == test.scheme }
        let patterns = Set(own.map(\.pattern.text))
        self.routes = own + (isConnected ? Self.conventions(test, self.namesakes, without: patterns) : [])
    }

    /// Returns the connector's routes `scheme://method` for the methods, except the routes in `known`.
    private static func conventions(
        _ test: ModuleTestCase,
        _ methods: [RouteDescription],
        without known: Set<String>
    ) -> [SampledRoute] {
        var known = known
        return methods.compactMap { method in
            let text = "\(test.scheme)://\(method.action ?? "")"
            guard let pattern = try? test.bus.configuration.pattern(text), known.insert(pattern.text).inserted
            else { return nil }
            return SampledRoute(pattern: pattern, description: method)
        }
    }

    /// Checks the registered routes without calling a handler.
    mutating func checkConventions() {
        if self.routes.isEmpty {
            let schemes = Set(self.test.bus.routes.map(\.pattern.scheme)).sorted().joined(separator: ", ")
            let module = self.namesakes.first?.module
            let call = "`bus.connectModules()` of WaybillCompatibility"
            let advice = module.map { "; \(call) connects the scheme to \($0)" } ?? ""
            let text = "no route of the bus has this scheme; the schemes with routes are: \(schemes)\(advice)"
            self.note("", url: "", text: text)
        }
        let patterns = Set(self.routes.map(\.pattern.text))
        for problem in self.test.bus.validate() where patterns.contains(problem.url) {
            self.note(problem.url, url: "", text: problem.message, code: problem.code)
        }
        for route in self.routes {
            for parameter in self.samples.unknown(of: route) {
                self.note(route.pattern.text, url: "", text: Self.unknown(parameter))
            }
            if self.test.options.needsDocumentation, route.description.documentation.isEmpty {
                self.note(route.pattern.text, url: "", text: "the route has no documentation comment")
            }
        }
    }

    /// Checks whether the modules and methods have the names in the scheme and the paths.
    mutating func checkNames() {
        let configured = Set(self.test.options.configuration?.entries.map(\.pattern) ?? [])
        for route in self.routes {
            let pattern = route.pattern.text
            // A closure belongs to a component that does not know the bus, so its names need not match the
            // URL.
            guard let module = route.description.module, let action = route.description.action else {
                continue
            }
            if ModuleName(module).schemeKey != self.test.scheme {
                let name = self.test.scheme.prefix(1).uppercased() + self.test.scheme.dropFirst()
                self.note(
                    pattern,
                    url: "",
                    text: "the module is \(module): name it \(name)Module or \(name)Controller"
                )
            }
            if let name = route.firstLiteral, name != action, !configured.contains(pattern) {
                self.note(
                    pattern,
                    url: "",
                    text: "the method is `\(action)`, but the path begins with `\(name)`: use one name"
                )
            }
        }
    }

    /// Checks that all routes of a configuration are registered.
    mutating func check(_ configuration: RouteConfiguration) {
        let patterns = Set(self.routes.map(\.pattern.text))
        for entry in configuration.entries where !patterns.contains(entry.pattern) {
            let isOther = !entry.pattern.lowercased().hasPrefix("\(self.test.scheme):")
            self.note(
                entry.pattern,
                url: "",
                text: isOther
                    ? "the entry at \(entry.source) belongs to another scheme: move it to that scheme's file"
                    : "the entry at \(entry.source) is not registered: load the configuration into the bus first"
            )
        }
    }

    /// Calls each route with correct URLs.
    mutating func forwardRightURLs() async {
        for route in self.routes where self.samples.unknown(of: route).isEmpty {
            var times: [Duration] = []
            var replies = 0
            for _ in 0..<max(1, self.test.options.repetitions) {
                let url: String
                do throws(RoutingError) {
                    url = try self.samples.rightURL(of: route)
                } catch {
                    self.note(route.pattern.text, url: "", text: error.message, code: error.code)
                    break
                }
                let outcome = await self.forward(url)
                times.append(outcome.time)
                if outcome.error == nil, !outcome.isHanging { replies += 1 }
                guard let problem = self.problem(of: outcome) else { continue }
                if outcome.error?.code == .missingParameter, let array = self.samples.missingArray(of: route)
                {
                    self.note(route.pattern.text, url: "", text: Self.unknown(array))
                    break
                }
                self.note(route.pattern.text, url: url, text: problem, code: outcome.error?.rootCause.code)
                // Stop after the first problem. A route that hangs, for example, would take the whole time
                // limit again.
                break
            }
            guard !times.isEmpty else { continue }
            let sorted = times.sorted()
            self.report.timings.append(
                ModuleTestReport.Timing(
                    route: route.pattern.text,
                    count: times.count,
                    replies: replies,
                    median: sorted[(sorted.count - 1) / 2],
                    maximum: sorted[sorted.count - 1]
                )
            )
        }
    }

    /// Calls each route with wrong URLs, and checks only that each message receives a reply or an error.
    mutating func forwardWrongURLs() async {
        // A route is not called again if it did not reply to a correct URL, or if its messages had no end.
        let endless: [RoutingError.Code?] = [nil, .deadlock, .hopLimitExceeded]
        let found = self.report.problems.filter { !$0.url.isEmpty && endless.contains($0.code) }
        var hanging = Set(found.map(\.route))
        for _ in 0..<max(0, self.test.options.rounds) {
            for route in self.routes where !hanging.contains(route.pattern.text) {
                for url in self.samples.wrongURLs(of: route) {
                    let outcome = await self.forward(url)
                    guard let problem = self.problemOfWrong(outcome) else { continue }
                    self.note(
                        route.pattern.text,
                        url: url,
                        text: problem,
                        code: outcome.error?.rootCause.code
                    )
                    hanging.insert(route.pattern.text)
                    break
                }
            }
            for url in self.samples.randomURLs() {
                let outcome = await self.forward(url)
                if let problem = self.problemOfWrong(outcome) {
                    self.note("", url: url, text: problem, code: outcome.error?.rootCause.code)
                }
            }
        }
    }

    private static func unknown(_ parameter: RouteDescription.Parameter) -> String {
        "the test case cannot generate a value of the type \(parameter.type) for `\(parameter.name)`; add a "
            + "value to the test case's `values`, or to its `arguments` if the value is not text"
    }

    private mutating func forward(_ url: String) async -> Forwarding.Outcome {
        self.report.forwarded += 1
        return await Forwarding(self.test.bus, self.test.arguments).forward(
            url,
            limit: self.test.options.limit
        )
    }

    /// Returns the problem with the outcome of a correct URL; nil if the outcome is accepted.
    private func problem(of outcome: Forwarding.Outcome) -> String? {
        if outcome.isHanging { return self.hang }
        guard let error = outcome.error?.rootCause else { return nil }
        if self.test.options.mayFail, error.code == .handlerFailed || error.code == .refused { return nil }
        return "a correct URL fails with \(error)"
    }

    private func problemOfWrong(_ outcome: Forwarding.Outcome) -> String? {
        if outcome.isHanging { return self.hang }
        guard let error = outcome.error?.rootCause else { return nil }
        return error.code == .deadlock || error.code == .hopLimitExceeded ? "it fails with \(error)" : nil
    }

    private var hang: String {
        "the route hangs: it has neither replied nor failed within \(self.test.options.limit)"
    }

    private mutating func note(
        _ route: String,
        url: String,
        text: String,
        code: RoutingError.Code? = nil
    ) {
        self.report.problems.append(.init(route: route, url: url, message: text.onOneLine, code: code))
    }
}
