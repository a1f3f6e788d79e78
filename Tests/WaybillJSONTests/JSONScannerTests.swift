import Testing
import WaybillJSON

struct JSONScannerTests {
    @Test(arguments: [
        "null", "true", " false ", "0", "-0", "12.5e-3", "1E+2", "\"\"", "\"\\u00e9\\n\\/\"", "[]", "{ }",
        "[1, [2, {\"a\": [ ]}], null]", "{\"a\":1,\"a\":2}", "\"\\ud83d\\ude00\"",
    ])
    func `takes what is JSON`(text: String) throws {
        #expect(throws: Never.self) { try JSONValue(parsing: Array(text.utf8)) }
    }

    @Test(arguments: [
        "", " ", "nul", "tru", "01", "1.", ".5", "-", "+1", "1e", "NaN", "\"", "\"\\x\"", "\"\u{1}\"", "[1,]",
        "[1 2]", "[", "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "{", "1 2", "'a'", "[1}", "//",
    ])
    func `refuses what is not`(text: String) {
        #expect(throws: JSONError.self) { try JSONValue(parsing: Array(text.utf8)) }
    }

    @Test(arguments: ["\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\\u12g4\"", "\"\\u12\""])
    func `refuses half of a character`(text: String) {
        var scanner = JSONScanner(Array(text.utf8))
        #expect(throws: JSONError.self) { try scanner.string() }
    }

    @Test
    func `refuses text that is not UTF-8`() {
        for bytes: [UInt8] in [[0x22, 0xff, 0x22], [0x22, 0x5c, 0x6e, 0xc3, 0x22]] {
            var scanner = JSONScanner(bytes)
            #expect(throws: JSONError.self) { try scanner.string() }
        }
    }

    @Test
    func `nesting is bounded`() throws {
        let deep = Array(
            (String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)).utf8
        )
        #expect(throws: JSONError.self) { try JSONValue(parsing: deep) }
        let limit = JSONScanner.depthLimit
        let text = String(repeating: "[", count: limit) + String(repeating: "]", count: limit)
        #expect(throws: Never.self) { try JSONValue(parsing: Array(text.utf8)) }
        #expect(throws: JSONError.self) { try JSONValue(parsing: Array("[\(text)]".utf8)) }
    }

    @Test
    func `strings and numbers say what they say`() throws {
        func string(_ text: String) throws -> String {
            var scanner = JSONScanner(Array(text.utf8))
            return try scanner.string()
        }
        #expect(
            try string("\"a\\\"b\\\\c\\b\\f\\n\\r\\t\\/é\\u00e9\\ud83d\\ude00\"")
                == "a\"b\\c\u{8}\u{c}\n\r\t/éé😀"
        )
        func number(_ text: String) throws -> JSONNumber {
            var scanner = JSONScanner(Array(text.utf8))
            return try scanner.number()
        }
        #expect(try number("-42") == .int(-42))
        #expect(try number("3.0") == .double(3, isInteger: false))
        #expect(try number("18446744073709551615") == .double(0x1p64, isInteger: true))
        #expect(throws: JSONError.self) { try number("1e999") }
    }
}
