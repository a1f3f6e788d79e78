import Foundation
import Testing

@testable import WaybillJSON

struct JSONScannerTests {
    private func validated(_ text: String, depthLimit: Int = JSONText.depthLimit) throws -> JSONText {
        try JSONText(Array(text.utf8)).validated(depthLimit: depthLimit)
    }

    @Test(arguments: [
        "null", "true", " false ", "0", "-0", "12.5e-3", "1E+2", "-12.0E+2", "\"\"", "[]", "{ }", "{}",
        "\"\\u00e9\\n\\/\\\"\"", " [1 , 2.5e-3, -0, true,false , null, \"a\\u00e9\\n\\\"\" ] ",
        "[1, [2, {\"a\": [ ]}], null]", "{\"a\":{\"b\":[[],{}]},\"a\":1}", "\"\\ud83d\\ude00\"",
        "\"\\uD83D\\uDE00 \u{1F600} é\"",
    ])
    func `the JSON scanner accepts the valid JSON that Foundation accepts`(text: String) throws {
        let value = try self.validated(text)
        #expect(throws: Never.self) {
            try JSONSerialization.jsonObject(with: Data(value.slice), options: .fragmentsAllowed)
        }
        #expect(String(decoding: value.slice, as: UTF8.self) == text.trimmingCharacters(in: .whitespaces))
    }

    @Test(arguments: [
        "", " ", "nul", "nulll", "tru", "01", "1.", ".5", "-", "+1", "1e", "NaN", "\"", "\"a", "\"\\x\"",
        "\"\u{1}\"", "\"\n\"", "[1,]", "[1 2]", "[", "[1}", "[1],", "{\"a\"}", "{\"a\":}", "{a:1}",
        "{\"a\":1,}", "{", "}", "{}{}", "1 2", "'a'", "//",
    ])
    func `the JSON scanner rejects invalid JSON`(text: String) {
        #expect(throws: JSONError.self) { try self.validated(text) }
    }

    @Test(arguments: [
        "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"", "\"\\ud800x\"", "\"\\ud800\\n\"",
        "\"\\ud83d\\ud83d\"", "\"\\u12g4\"", "\"\\u12\"", "\"\\u",
    ])
    func `a JSON string with a lone surrogate is rejected`(text: String) {
        #expect(throws: JSONError.self) { try self.validated(text) }
    }

    @Test(arguments: ["\u{301}\u{316}", "\\u0301\\u0316"])
    func `a JSON string with more than 30 combining marks in a row is rejected`(marks: String) throws {
        let few = "a" + String(repeating: marks, count: 15)
        let many = "a" + String(repeating: marks, count: 16)
        for text in ["\"\(few)\"", "{\"\(few)\":1}", "[\"\(few)\",\"\(few)\"]"] {
            #expect(throws: Never.self) { try self.validated(text) }
        }
        for text in [
            "\"\(many)\"", "{\"\(many)\":1}", "[\"\(few)\",\"\(many)\"]", "{\"a\":{\"b\":\"\(many)\"}}",
        ] {
            let error = #expect(throws: JSONError.self) { try self.validated(text) }
            guard case .combiningMarks? = error else {
                Issue.record("\(text) is rejected for another reason: \(String(describing: error))")
                continue
            }
        }
    }

    /// The scanner reads text eight bytes at a time, and long text 64 bytes at a time.
    @Test
    func `the JSON scanner finds special bytes at each position of a text`() {
        for count in Array(0..<26) + [79, 80, 81, 144, 151] {
            let plain = [UInt8](repeating: 0x7F, count: count)
            #expect(JSONScanner.plainCount(plain.span) == count)
            for place in 0..<count {
                // The table has each special byte, and the bytes that differ from it in one bit.
                for (byte, isPlain) in [
                    (0x00, false), (0x1F, false), (0x20, true), (0x21, true), (0x22, false), (0x23, true),
                    (0x5B, true), (0x5C, false), (0x5D, true), (0x80, true), (0x9F, true), (0xA2, true),
                    (0xDC, true), (0xFF, true),
                ] as [(UInt8, Bool)] {
                    var bytes = plain
                    bytes[place] = byte
                    #expect(JSONScanner.plainCount(bytes.span) == (isPlain ? count : place), "\(bytes)")
                }
            }
        }
    }

    @Test
    func `the JSON scanner's error has the position in the text`() {
        #expect(throws: JSONError.malformed(at: 3)) { try self.validated("[1 2]") }
        let message = Array("{}  [1 2]".utf8)
        #expect(throws: JSONError.malformed(at: 3)) {
            try JSONText(bytes: message, range: 4..<message.count).validated(depthLimit: 8)
        }
        #expect("\(JSONError.malformed(at: 3))" == "the text is not JSON from byte 3 on")
    }

    @Test(
        arguments: [[0x22, 0xC3, 0x28, 0x22], [0x22, 0xFF, 0x22], [0x22, 0x5C, 0x6E, 0xC3, 0x22]] as [[UInt8]]
    )
    func `the JSON scanner rejects bytes that are not UTF-8`(bytes: [UInt8]) {
        #expect(throws: JSONError.notUTF8) { try JSONText(validating: bytes) }
    }

    @Test
    func `JSON that is nested beyond the depth limit is rejected`() {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(throws: JSONError.tooDeep(limit: 64)) { try self.validated(deep, depthLimit: 64) }
        let allowed = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(throws: Never.self) { try self.validated(allowed, depthLimit: 64) }
        #expect(throws: JSONError.tooDeep(limit: 64)) { try self.validated("[\(allowed)]", depthLimit: 64) }
        #expect(throws: Never.self) { try self.validated("[\(allowed),[],[]]", depthLimit: 65) }
    }
}
