import Testing
import Waybill
import WaybillCompatibility
import WaybillPerformances
import WaybillRouting

/// Every public call of `WaybillRouting`, and of `WaybillCompatibility`.
struct RoutingTests {
    @Test func `an address has a scheme, segments, a query and a fragment`() throws {
        let address = try Address("APP://user/7/a%20b?page=2&tag=a&tag=b#home/done")
        #expect(address.hasScheme && address.scheme == "app")
        #expect(address.segments == ["user", "7", "a b"])
        #expect(address.path.hasPrefix("user/7/a"))
        #expect(address.query == "page=2&tag=a&tag=b" && address.fragment == "home/done")
        #expect(address.queryItems.map(\.name) == ["page", "tag", "tag"])
        #expect(address.text.hasPrefix("APP://") && !address.description.isEmpty)
        #expect(Address.encode("a b/c") == "a%20b%2Fc")
        let short = try Address("/user/7", conventions: .waybill, defaultScheme: "shop", limits: .default)
        #expect(short.scheme == "shop" && !short.hasScheme)
        #expect(Set([address, address]).count == 1 && address != short)
    }

    @Test func `a passed value takes precedence over the path and the query`() throws {
        let address = try Address("app://user/7?page=2&tag=a&tag=b")
        var table = RouteTable<String>()
        try table.insert("app://user/<int:uid>", "user")
        let match = try #require(try table.match(address))
        let parameters = match.parameters.merging(call: ["name": "Lili", "page": 3])
        let uid: Int = try parameters.require("uid")
        #expect(uid == 7 && parameters["name"] == "Lili")
        #expect(try parameters.require("page", as: Int.self) == 3)
        #expect(try parameters.value("none", as: Int.self) == nil)
        #expect(parameters.all("tag") == ["a", "b"])
        #expect(parameters.path == ["uid": "7"] && parameters.query["page"] == "2")
        #expect(parameters.all["uid"] == "7" && parameters.call.count == 2)
        #expect(parameters.address == address)
        #expect(Parameters(address: address, call: ["x": 1])["x"] == "1")
        #expect(throws: RoutingError.self) { try parameters.require("none", as: Int.self) }
    }

    @Test func `a pattern can be matched, printed and sampled`() throws {
        let pattern = try RoutePattern("app://user/<int:uid>/:name")
        #expect(pattern.scheme == "app" && pattern.text == pattern.description)
        #expect(pattern.parameters.map(\.type) == ["int", "string"] && pattern == pattern)
        var hasher = Hasher()
        pattern.hash(into: &hasher)
        try Address("app://user").hash(into: &hasher)
        #expect(pattern.parameters.map(\.name) == ["uid", "name"])
        #expect(try pattern.url(with: ["uid": "7", "name": "a b"]) == "app://user/7/a%20b")
        #expect(Set([pattern, pattern]).count == 1)
        var table = RouteTable<Int>()
        try table.insert(pattern.text, 1)
        var generator = SystemRandomNumberGenerator()
        #expect(table.canRoute(pattern.example(using: &generator)))
        #expect(throws: RoutingError.self) { try RoutePattern("app://user/<itn:uid>") }
    }

    @Test func `a route table inserts, matches and removes patterns`() throws {
        var table = RouteTable<String>(conventions: .waybill, defaultScheme: "app", limits: .default)
        let id: RouteID = try table.insert("app://user/:uid", "user")
        try table.insert("app://cart/show", "cart")
        try table.insert("memo://**", "memo")
        #expect(table.count == 3 && !table.isEmpty && table.routes.count == 3)
        let match = try #require(try table.match("app://user/7"))
        #expect(table[match] == "user" && match.route == id && table.handler(for: id) == "user")
        let route = try #require(table.route(id))
        #expect(route.id == id && route.pattern.text == "app://user/:uid" && route.line > 0)
        #expect(route.fileID.contains("RoutingTests") && route.parameters.map(\.name) == ["uid"])
        #expect(try table.match("app://nobody/home") == nil && !table.canRoute("app://nobody/home"))
        table.register(scheme: "other")
        table.defaultScheme = "memo"
        table.fallsBack = false
        #expect(table.defaultScheme == "memo" && !table.fallsBack)
        table.defaultScheme = "app"
        #expect(table.schemes.contains("other"))
        #expect(table.conventions == .waybill && table.limits == .default && table.defaultScheme == "app")
        #expect(throws: RoutingError.self) { try table.insert("app://user/:other", "rival") }
        #expect(table.remove(id) == "user" && table.remove("app://cart/show") == "cart")
        table.removeAll(scheme: "memo")
        #expect(table.isEmpty)
        table.removeAll()
    }

    @Test func `explain shows why a URL has no route`() throws {
        var table = RouteTable<Int>()
        try table.insert("app://user/<int:uid>", 1)
        let good = table.explain("app://user/7")
        #expect(
            good.route != nil && good.parameters?["uid"] == "7" && good.error == nil && !good.trace.isEmpty
        )
        let bad = table.explain("app://user/x")
        #expect(bad.route == nil && bad.url == "app://user/x" && bad.failure?.name == "uid")
        #expect(bad.failure?.type == "int" && bad.failure?.text == "x")
        #expect(bad.failure?.pattern == "app://user/<int:uid>" && bad.failure?.message.isEmpty == false)
        let near = table.explain("app://usr/7")
        #expect(near.nearest == ["app://user/<int:uid>"] && near.stoppedAt != nil)
        #expect(table.noRoute(for: "app://usr/7").code == .noRoute)
        #expect(table.noRoute(for: try Address("app://usr/7")).message.contains("did you mean"))
    }

    @Test(arguments: [
        RoutingConventions.waybill, .yfRouter, .ftRouter, .cocRouter, .zikRouter, .nativeConnector,
        RoutingConventions(),
    ])
    func `a table can follow the conventions of another router`(conventions: RoutingConventions) throws {
        var table = RouteTable<Int>(conventions: conventions)
        try table.insert("app://user/detail", 1)
        #expect(try table.match("app://user/detail") != nil)
    }

    @Test func `the presets of conventions can be listed by name`() throws {
        let names = RoutingConventions.presets.keys.sorted()
        #expect(names == ["cocRouter", "ftRouter", "nativeConnector", "yfRouter", "zikRouter"])
    }

    @Test func `COCRouter's completion is called before its filter`() async throws {
        let bus = MessageBus(configuration: .init(conventions: .cocRouter))
        try bus.register("order://detail/") { _ in 7 }
        let forwarder = COCRouterForwarder(bus)
        var modes: [Int] = []
        let done = await forwarder.forward("order://detail/") { modes.append($0.mode.rawValue) }
        #expect(done.mode == .done && done.value as? Int == 7 && done.error == nil && modes == [200])
        let filter: COCRouterForwarder.Filter = { url, mode in #expect(url == "no" && mode == .urlNotParsed) }
        let failed = await COCRouterForwarder(bus, filter: filter).forward("no", parameters: ["a": 1])
        #expect(failed.mode.rawValue == 400 && failed.error?.code == .invalidURL)
    }

    @Test func `FTRouter's components give a handler the parts of a URL`() async throws {
        let bus = MessageBus(configuration: .init(defaultScheme: "ft", conventions: .ftRouter))
        try bus.register("market/detail") { message in
            let components = FTRouterComponents(message)
            let parts = [
                components.scheme, components.host, components.path, components.transition,
                components.followedURL,
            ]
            let values = components.query.count == 1 && components.parameters.count == 1
            return "\(parts.map { $0 ?? "-" }) \(components.segments) \(values) \(components.values.count)"
        }
        let text: String = try await bus.route("ft://push/market/detail?a=b", parameters: ["c": 1])
        #expect(text == #"["ft", "-", "market/detail", "push", "-"] ["market", "detail"] true 2"#)
    }

    @Test func `each convention and each limit can be set separately`() throws {
        var conventions = RoutingConventions()
        conventions.segmentsIgnoreCase = true
        conventions.sameShape = .replaces
        conventions.missingScheme = .isError
        conventions.precedence = .queryBeforePath
        conventions.duplicateQueryNames = .firstWins
        conventions.host = .isFirstSegment
        conventions.placeholders = .colon
        conventions.schemeIgnoresCase = true
        conventions.schemeMustBeRegistered = false
        conventions.schemeAliases = ["a": "app"]
        conventions.leadingVerbs = ["push"]
        conventions.valuesNeedExactCase = false
        conventions.hasFragment = true
        conventions.decodesWholeURL = false
        conventions.placeholdersSpanSegments = false
        conventions.patternsIgnoreSpaces = true
        conventions.patternQuery = .isText
        conventions.bestMatch = .mostSpecific
        conventions.fallsBack = false
        conventions.keepsQueryNamesWithoutValue = true
        conventions.queryValues = .beginBehindFirstEquals
        var limits = RoutingLimits(urlLength: 64)
        limits.segments = 4
        limits.parameters = 2
        limits.queryItems = 2
        limits.patternLength = 32
        limits.routes = 2
        limits.allowsExpressionsOfPeers = true
        #expect(limits.urlLength == 64)
        var table = RouteTable<Int>(conventions: conventions, limits: limits)
        try table.insert("app://User/:uid", 1)
        try table.insert("app://User/:uid", 2)
        let match = try #require(try table.match("app://USER/7?uid=8"))
        #expect(table[match] == 2 && match.parameters["uid"] == "8")
        #expect(try table.match("a://push/user/7")?.parameters["uid"] == "7")
        #expect(throws: RoutingError.self) { try table.match("/user/7") }
        #expect(throws: RoutingError.self) { try table.match("app://a/b/c/d/e") }
    }

    @Test func `each convention can have each of its values`() throws {
        typealias Choices = RoutingConventions
        for host in [Choices.Host.isFirstSegment, .isFirstSegmentUnlessDotted, .isIgnored] {
            for missing in [Choices.MissingScheme.usesDefault, .isError] {
                var conventions = RoutingConventions.waybill
                (conventions.host, conventions.missingScheme) = (host, missing)
                #expect(try Address("app://user/7", conventions: conventions).segments.last == "7")
            }
        }
        for placeholders in [Choices.Placeholders.all, .colon, .angleBrackets, .none] {
            for query in [Choices.PatternQuery.isText, .isIgnored, .isIgnoredBesidePlaceholders] {
                var conventions = RoutingConventions.waybill
                (conventions.placeholders, conventions.patternQuery) = (placeholders, query)
                #expect(try RoutePattern("app://user", conventions: conventions).parameters.isEmpty)
            }
        }
        let matches: [Choices.BestMatch] = [
            .mostSpecific, .literalWithoutBacktracking, .mostLiteral, .firstRegistered,
        ]
        for bestMatch in matches {
            for precedence in [Choices.Precedence.pathBeforeQuery, .queryBeforePath] {
                var conventions = RoutingConventions.waybill
                (conventions.bestMatch, conventions.precedence) = (bestMatch, precedence)
                var table = RouteTable<Int>(conventions: conventions)
                try table.insert("app://user/:uid", 1)
                let value = try table.match("app://user/7?uid=8")?.parameters["uid"]
                #expect(value == (precedence == .pathBeforeQuery ? "7" : "8"))
            }
        }
        for names in [Choices.DuplicateQueryNames.firstWins, .lastWins] {
            for values in [Choices.QueryValues.beginBehindFirstEquals, .beginBehindLastEquals] {
                var conventions = RoutingConventions.waybill
                (conventions.duplicateQueryNames, conventions.queryValues) = (names, values)
                var table = RouteTable<Int>(conventions: conventions)
                try table.insert("app://a", 1)
                let value = try table.match("app://a?k=1&k=2")?.parameters["k"]
                #expect(value == (names == .firstWins ? "1" : "2"))
            }
        }
        for sameShape in [Choices.SameShape.conflicts, .replaces] {
            var conventions = RoutingConventions.waybill
            conventions.sameShape = sameShape
            var table = RouteTable<Int>(conventions: conventions)
            try table.insert("app://a", 1)
            #expect(((try? table.insert("app://a", 2)) == nil) == (sameShape == .conflicts))
        }
    }

    @Test func `SafeText escapes text from outside into one line of limited length`() {
        #expect(SafeText.line("a\nb") == "a\\nb" && SafeText.limit == 200)
        #expect(SafeText.line(String(repeating: "a", count: 300), limit: SafeText.limit).count < 300)
    }

    @Test func `a routing error has a code, a place and a cause`() {
        struct Cause: Error {}
        let error = RoutingError(.handlerFailed, url: "app://a", message: "it broke", cause: Cause())
        #expect(error.code == .handlerFailed && "\(error.code)" == "handlerFailed" && error.cause is Cause)
        #expect(
            error.route == nil && error.module == nil && error.url == "app://a" && error.message == "it broke"
        )
        let outer = RoutingError(.handlerFailed, message: "", cause: RoutingError(.noRoute, message: ""))
        #expect(outer.rootCause.code == .noRoute && error.code.description == "handlerFailed")
        #expect(error.description.hasPrefix("handlerFailed app://a: it broke"))
        #expect(COCRouterMode(error.code) == .noHandler && COCRouterMode(nil).rawValue == 200)
        #expect(
            COCRouterMode(.invalidURL) == .urlNotParsed && COCRouterMode(rawValue: 403) == .wrongArguments
        )
        #expect(RoutingError.Code(.noRoute) == .noRoute && RoutingError.Code(.done) == nil)
        let codes: Set<RoutingError.Code> = [
            .invalidURL, .invalidPattern, .conflict, .noRoute, .noHandler, .refused, .missingParameter,
            .invalidParameter, .typeMismatch, .handlerFailed, .deadlineExceeded, .cancelled, .mailboxFull,
            .deadlock, .hopLimitExceeded, .notTransferable, .unreachable, .overRoute, .actionFailed,
            .infiniteRecursion, .shutDown,
        ]
        #expect(codes.count == 21)
    }
}
