import Testing
import WaybillTestSupport

@testable import WaybillRouting

@Suite struct RegularExpressionTests {
    func matches(_ expression: String, _ text: String) throws -> Bool {
        var budget = RegexBudget.code
        let expression = try RegularExpression(expression, budget: &budget)
        let bytes = Array(text.utf8)
        let forwards = expression.automaton.matches(bytes.span, 0..<bytes.count)
        let ends = (0...bytes.count).map { $0 == bytes.count }
        #expect(expression.automaton.starts(bytes.span, 0..<bytes.count, endingAt: ends)[0] == forwards)
        return forwards
    }

    @Test(arguments: [
        ("\\d+", ["1", "123"], ["a", "1a", "-1", "١"]), ("[a-c]{2,3}", ["ab", "abc"], ["a", "abcd", "xy"]),
        ("a|bc|d*e", ["a", "bc", "e", "dde"], ["b", "d", "abc"]), ("^\\w{3}$", ["a_1"], ["a-1", "ab"]),
        (".", ["a", "é", "🍌", "/"], ["ab"]), ("[^/]+", ["a", "é"], ["a/b"]),
        ("(?:ab)+c?", ["ab", "ababc"], ["a", "abcc"]),
        ("[\\w.-]+", ["a.b-c"], ["a b"]), ("[]a]", ["]", "a"], ["b"]), ("[\\D]", ["a"], ["1"]),
        ("a{,2}", ["a{,2}"], ["a"]), ("a+{x}", ["aa{x}"], ["aa"]),
        ("\\.\\*", [".*"], ["xx"]), ("(^a|b$)", ["a", "b"], ["ab"]), ("[à-ü]+", ["éü"], ["e"]),
        ("\\S+", ["a-b"], ["a b"]), ("[t-za-ce-gf-hd]+", ["abcdefghtuvwxyz"], ["i", "s"]),
        ("[^ü-ÿà-éâ]", ["ê", "û", "ß"], ["à", "â", "é", "ü", "ÿ"]),
        ("x{2}y{0}z{1,}", ["xxz", "xxzzz"], ["xxyz", "xz"]), ("(a*)*b", ["b", "aab"], ["a"]),
        ("(^a|b)?c", ["ac", "bc", "c"], ["a", "aac"]), ("a(b|c$)?", ["a", "ab", "ac"], ["acb"]),
    ])
    func `a regular expression must match the whole value`(
        expression: String,
        yes: [String],
        no: [String]
    ) throws {
        for text in yes { #expect(try self.matches(expression, text), "\(text)") }
        for text in no { #expect(try !self.matches(expression, text), "\(text)") }
    }

    /// Expressions that take exponential time in backtracking engines.
    @Test(arguments: ["(a*)*b", "(a|a)*b", "(a|aa)+$", "(.*a){12}", "([a-z]+)*\\d"])
    func `no regular expression takes unbounded time`(expression: String) throws {
        let text = String(repeating: "a", count: 2_000) + "!"
        let before = threadTime()
        _ = try self.matches(expression, text)
        #expect(threadTime() - before < Scale.whileQuick)
    }

    /// Sets of few and of many ranges take nearly the same time, because the ranges are not searched one by
    /// one.
    @Test func `a set of many characters is searched quickly`() throws {
        let letters = (0..<460).compactMap { Unicode.Scalar(0x400 + 2 * $0).map { String(Character($0)) } }
        let text = String(repeating: letters[459], count: 4_000)
        func time(_ letters: some Sequence<String>) throws -> Duration {
            var budget = RegexBudget.code
            let set = letters.joined()
            let automaton = try RegularExpression("([\(set)]{1,60})*", budget: &budget).automaton
            var matches = 0
            let time = leastThreadTime {
                let bytes = text.utf8.span
                if automaton.matches(bytes, 0..<bytes.count) { matches += 1 }
            }
            #expect(matches == 3)
            return time
        }
        let (few, many) = (try time(letters.suffix(4)), try time(letters))
        print("a set of 4 ranges: \(few), of 460 ranges: \(many)")
        #expect(many < few * 20)
    }

    @Test func `groups of a regular expression can be nested 32 deep`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "(", count: depth) + "a" + String(repeating: ")", count: depth)
        }
        #expect(try self.matches(nested(32), "a"))
        #expect(throws: (any Error).self) { try self.matches(nested(33), "a") }
    }

    /// A repetition of an empty group has no states, so only its work can be limited.
    @Test(arguments: [
        "((((((((){512}){512}){512}){512}){512}){512})|a)", "(((((^{512}){512}){512}){512}){512}a)",
        "((((a?){512}){512}){512})", "((((|){512}|){512}|){512}|b)", "(((a|b){200}){200}){200}",
    ])
    func `a regular expression that needs too much work is rejected at once`(expression: String) {
        let clock = ContinuousClock()
        let duration = clock.measure {
            #expect(throws: RoutingError.self) { try RoutePattern("app://news/:x(\(expression))") }
        }
        #expect(duration < Scale.whileQuick * 5)
    }

    @Test
    func `a peer's regular expression is rejected unless allowed, and has a smaller budget`() throws {
        let text = "app://news/:x([a-z]{40})"
        var table = RouteTable<Void>()
        #expect(throws: Never.self) { try table.pattern(text) }
        let error = #expect(throws: RoutingError.self) { try table.pattern(text, from: .peer) }
        #expect(error?.code == .invalidPattern)
        #expect(error?.message.contains("allowsExpressionsOfPeers") == true)
        table = RouteTable<Void>(limits: RoutingLimits(allowsExpressionsOfPeers: true))
        #expect(throws: Never.self) { try table.pattern(text, from: .peer) }
        for expression in ["[a-z]{65}", "((((((){512}){512}){512}))|a)", "(a?){64}(b?){64}"] {
            #expect(throws: RoutingError.self) {
                try table.pattern("app://news/:x(\(expression))", from: .peer)
            }
        }
    }

    @Test
    func `all regular expressions of a pattern share one budget`() throws {
        let table = RouteTable<Void>(limits: RoutingLimits(allowsExpressionsOfPeers: true))
        let expensive = ":x(((){60}){40}a)"
        #expect(throws: Never.self) { try table.pattern("app://\(expensive)", from: .peer) }
        #expect(throws: RoutingError.self) {
            try table.pattern("app://\(expensive)/\(expensive)/\(expensive)/\(expensive)", from: .peer)
        }
    }

    @Test
    func `a peer's pattern can have at most two optional groups`() throws {
        let table = RouteTable<Void>()
        #expect(throws: Never.self) { try table.pattern("app://a(/b)(/c)", from: .peer) }
        #expect(throws: Never.self) { try table.pattern("app://a(/b)(/c)(/d)", from: .node) }
        #expect(throws: RoutingError.self) { try table.pattern("app://a(/b)(/c)(/d)", from: .peer) }
    }

    @Test(arguments: ["(^a|b)+", "(a|b$){2}", "(^a)*", "a?^b", "(a|b^c)", "a$b", "(^){3}a"])
    func `an anchor that is not at the edge of the value is rejected`(expression: String) {
        let error = #expect(throws: RoutingError.self) { try RoutePattern("app://news/:x(\(expression))") }
        #expect(error?.code == .invalidPattern)
        #expect(error?.message.contains("move or remove") == true)
    }
}
