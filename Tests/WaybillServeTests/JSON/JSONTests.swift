import Foundation
import Testing
import WaybillRouting
import WaybillTestSupport

@testable import WaybillServe

struct JSONTests {
    private func text(_ text: String) -> JSONText { JSONText(Array(text.utf8)) }

    @Test(arguments: [
        "{}", "[]", " [1 , 2.5e-3, -0, true,false , null, \"a\\u00e9\\n\\\"\" ] ",
        "{\"a\":{\"b\":[[],{}]},\"a\":1}", "\"\\ud83d\\ude00\"", "-12.0E+2", "\u{FEFF}".isEmpty ? "" : "0",
    ])
    func `what is JSON passes, and Foundation agrees`(text: String) throws {
        let value = try JSONScanner.validated(self.text(text), depth: 8)
        #expect(throws: Never.self) {
            try JSONSerialization.jsonObject(with: Data(value.slice), options: .fragmentsAllowed)
        }
    }

    @Test(arguments: [
        "", " ", "{", "}", "[1,]", "{\"a\"}", "{\"a\":}", "{a:1}", "[1 2]", "01", "1.", ".5", "+1", "-", "1e",
        "tru", "nulll", "\"a", "\"\\x\"", "\"\\u12g4\"", "\"\n\"", "{}{}", "[1],", "'a'", "{\"a\":1,}", "NaN",
    ])
    func `what is no JSON is told from where on`(text: String) {
        #expect(throws: JSONError.self) { try JSONScanner.validated(self.text(text), depth: 8) }
    }

    @Test
    func `nesting has a limit, however deep it is`() {
        let deep = String(repeating: "[", count: 100_000)
        #expect(throws: JSONError.tooDeep) { try JSONScanner.validated(self.text(deep), depth: 64) }
        let allowed = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(throws: Never.self) { try JSONScanner.validated(self.text(allowed), depth: 64) }
    }

    @Test
    func `bytes that are no UTF-8 are refused`() {
        let bytes: [UInt8] = [0x22, 0xC3, 0x28, 0x22]
        #expect(throws: JSONError.notUTF8) { try JSONScanner.validated(JSONText(bytes), depth: 8) }
    }

    @Test
    func `values take the type that their reader asks for`() throws {
        struct User: Codable, Equatable {
            let name: String
            let born: Date
        }
        #expect(try self.text("7").decoded(as: Int.self) == 7)
        #expect(try self.text("7").decoded(as: UInt8.self) == 7)
        #expect(try self.text("7").decoded(as: Double.self) == 7)
        #expect(try self.text("\"a\\u00e9\\ud83d\\ude00\\n\"").decoded(as: String.self) == "aé😀\n")
        #expect(try self.text("[1,2]").decoded(as: [Int].self) == [1, 2])
        #expect(try self.text("null").decoded(as: String?.self) == .some(nil))
        #expect(try self.text("null").decoded(as: Void.self) != nil)
        #expect(try self.text("1").decoded(as: Void.self) == nil)
        #expect(throws: (any Error).self) { try self.text("300").decoded(as: UInt8.self) }
        #expect(throws: (any Error).self) { try self.text("\"a\"").decoded(as: Int.self) }
        #expect(try self.text("1").decoded(as: (@Sendable () -> Void).self) == nil)
        let user = User(name: "Lili", born: Date(timeIntervalSince1970: 1.5))
        let text = try JSONText(encoding: user)
        #expect(try text.decoded(as: User.self) == user)
        #expect(String(decoding: text.slice, as: UTF8.self).contains("1970-01-01T00:00:01.500Z"))
        let plain = self.text("{\"a\":[1,2.5,true,null,\"x\",9223372036854775808]}").plain
        let values = (plain as? [String: any Sendable])?["a"] as? [any Sendable]
        #expect(values?.count == 6 && values?[0] as? Int == 1 && values?[1] as? Double == 2.5)
        #expect(values?[2] as? Bool == true && values?[3] is Void && values?[4] as? String == "x")
        #expect(values?[5] as? Double == 9_223_372_036_854_775_808)
    }

    @Test
    func `values of every kind are written, and what cannot be is named`() throws {
        func written(_ value: any Sendable) throws -> String {
            String(decoding: try JSONText(encoding: value).slice, as: UTF8.self)
        }
        #expect(try written(()) == "null")
        #expect(try written("a\"\\\u{1}\n/é") == "\"a\\\"\\\\\\u0001\\n/é\"")
        #expect(try written(Int?.none) == "null" && written(Int?.some(1)) == "1")
        #expect(try written(Int??.some(nil)) == "null")
        #expect(try written([1, "a", [true], ()] as [any Sendable]) == "[1,\"a\",[true],null]")
        #expect(
            try written(["a": 1, "b": ["c": 2.5]] as [String: any Sendable]) == "{\"a\":1,\"b\":{\"c\":2.5}}"
        )
        #expect(try written(self.text("{\"raw\":1}")) == "{\"raw\":1}")
        #expect(try written(UInt64.max) == "18446744073709551615")
        #expect(try written(Data([1, 2])) == "\"AQI=\"")
        for value: any Sendable in [
            { @Sendable in } as @Sendable () -> Void, Double.nan, [Int.self] as [Any.Type],
        ] {
            let error = #expect(throws: RoutingError.self) { try written(value) }
            #expect(error?.code == .notTransferable)
        }
    }
}
