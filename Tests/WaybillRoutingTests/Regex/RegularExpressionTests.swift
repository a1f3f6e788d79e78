import Testing

@testable import WaybillRouting

@Suite struct RegularExpressionTests {
    func matches(_ expression: String, _ text: String) throws -> Bool {
        let expression = try RegularExpression(expression)
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
        ("a{,2}", ["a{,2}"], ["a"]),
        ("\\.\\*", [".*"], ["xx"]), ("(^a|b$)", ["a", "b"], ["ab"]), ("[à-ü]+", ["éü"], ["e"]),
        ("\\S+", ["a-b"], ["a b"]),
        ("x{2}y{0}z{1,}", ["xxz", "xxzzz"], ["xxyz", "xz"]), ("(a*)*b", ["b", "aab"], ["a"]),
    ])
    func `an expression matches whole values`(expression: String, yes: [String], no: [String]) throws {
        for text in yes { #expect(try self.matches(expression, text), "\(text)") }
        for text in no { #expect(try !self.matches(expression, text), "\(text)") }
    }

    /// Expressions that take exponential time in backtracking engines.
    @Test(arguments: ["(a*)*b", "(a|a)*b", "(a|aa)+$", "(.*a){12}", "([a-z]+)*\\d"])
    func `no expression hangs`(expression: String) throws {
        let text = String(repeating: "a", count: 2_000) + "!"
        let clock = ContinuousClock()
        let duration = try clock.measure { _ = try self.matches(expression, text) }
        #expect(duration < .seconds(30))
    }
}
