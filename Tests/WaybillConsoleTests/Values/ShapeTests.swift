#if HTTP
import Foundation
import NIOCore
import Testing
import WaybillJSON
import WaybillRouting
import WaybillTestSupport

@testable import WaybillConsole

private struct Money: Codable, Sendable {
    var amount = 4200
    var currency = "EUR"
}

private struct Receipt: Codable, Sendable {
    var order = 7
    var total = Money()
    var accessToken = "hunter2"
    var note: String? = "thanks"
}

private final class Account: Sendable {
    let password = "hunter2"
}

private enum Status: Sendable {
    case paid(by: String)
}

private struct Describing: Sendable, CustomReflectable, CustomStringConvertible {
    var description: String { "hunter2" }
    var customMirror: Mirror { Mirror(self, children: ["hunter2": "hunter2"]) }
}

private enum Field: String, Codable, Sendable {
    case name, password
}

@Suite
struct ShapeTests {
    private static let redaction = Redaction(["token", "password"])

    @Test(arguments: [
        ("hello" as any Sendable, "String(5)"), (42, "Int"), (true, "Bool"), ((), "Void"),
        ([1, 2, 3], "[Int](3)"),
        (["a": 1], "[String: Int](1)"), (Optional<Int>.none as any Sendable, "nil"),
        (Optional("abc") as any Sendable, "String(3)"), (Set([1]), "Set<Int>(1)"),
        (
            Receipt(),
            "Receipt{order: Int, total: Money{amount: Int, currency: String(3)}, accessToken: …, note: String(6)}"
        ), (Account(), "Account"), (Status.paid(by: "hunter2"), "Status"), (Describing(), "Describing"),
        ({ @Sendable (_: Int) in "x" } as @Sendable (Int) -> String, "@Sendable (Int) -> String"),
        (JSONText(Array(#"{"password":"hunter2"}"#.utf8)), "Object(1)"),
        (JSONText(Array(#""hunter2""#.utf8)), "String(7)"), ((1, "two"), "(Int, String)"),
        (JSONText(Array("[1,[2,3]]".utf8)), "Array(2)"), (JSONText(Array("null".utf8)), "null"),
        (JSONText(Array("17".utf8)), "Int"), (JSONText(Array("1.5".utf8)), "Double"),
    ])
    func `a value's shape has types and counts, and no content`(value: any Sendable, shape: String) {
        #expect(Shape.of(value, hiding: Self.redaction) == shape)
        #expect(!Shape.of(value, hiding: Self.redaction).contains("hunter2"))
    }

    @Test
    func `the shape of deeply nested JSON takes no longer than its validation`() throws {
        let depth = 60
        let content = Array(repeating: "1", count: 50_000).joined(separator: ",")
        let bytes = Array(
            (String(repeating: "[", count: depth) + content + String(repeating: "]", count: depth)).utf8
        )
        var text: JSONText?
        let validation = try leastThreadTime { text = try JSONText(validating: bytes) }
        let nested = try #require(text)
        let shaping = leastThreadTime {
            #expect(Shape.of(nested, hiding: Self.redaction) == "Array(1)")
        }
        // Decoding the value would read the content once for each level.
        #expect(shaping < validation * 10, "\(shaping) for the shape, \(validation) for the validation")
    }

    @Test
    func `a value's shape is short, however large the value is`() {
        let values = Array(repeating: Receipt(), count: 100_000)
        #expect(Shape.of(values, hiding: Self.redaction) == "[Receipt](100000)")
        struct Wide: Sendable {
            var (a, b, c, d, e, f, g, h) = (Receipt(), Receipt(), Receipt(), Receipt(), Receipt(), 1, 2, 3)
        }
        #expect(Shape.of(Wide(), hiding: Self.redaction).utf8.count < 300)
    }

    @Test
    func `a value's JSON is shortened, and does not contain values of hidden names`() {
        let writer = ValueWriter(redaction: Self.redaction, showsPayloads: true)
        #expect(
            writer.text(Receipt())
                == #"{"accessToken":"…","note":"thanks","order":7,"total":{"amount":4200,"currency":"EUR"}}"#
        )
        #expect(writer.text(["password": ["a": 1]]) == #"{"password":"…"}"#)
        #expect(writer.text("x", named: "Pass-word") == "…")
        #expect(writer.text(Account()) == "Account")
        #expect(writer.text(String(repeating: "x", count: 1 << 20)) == "String(1048576)")
        #expect(writer.text(Array(repeating: 7, count: 1000)).utf8.count < 100)
        #expect(writer.text(["a\"b"]) == #"["a\"b"]"#)
        // A dictionary whose keys are not strings is an array of keys and values.
        #expect(writer.text([Field.password: "hunter2"]) == #"["password","…"]"#)
        #expect(writer.text([Field.name: "password"]) == #"["name","password"]"#)
    }

    @Test
    func `the estimated size of a value includes bytes that its mirror does not contain`() {
        let data = Data(repeating: 7, count: 100_000)
        #expect(ValueSize.estimate(data, upTo: 1 << 20) >= 100_000)
        #expect(ValueSize.estimate(["file": [data, data]], upTo: 1 << 20) >= 200_000)
        #expect(ValueSize.estimate(ByteBuffer(bytes: data), upTo: 1 << 20) >= 100_000)
        #expect(ValueSize.estimate(Account(), upTo: 1 << 20) >= 1024)
        #expect(ValueSize.estimate(Describing(), upTo: 1 << 20) < 100)
        #expect(ValueSize.estimate([Date.now, Date.now], upTo: 1 << 20) < 100)
        struct Wide: Sendable { var receipts = (Receipt(), Receipt(), Receipt(), Receipt()) }
        // A value with very many parts is not visited completely.
        let values = Array(repeating: Array(repeating: Wide(), count: 8), count: 8)
        #expect(ValueSize.estimate(values, upTo: 1 << 30) == 1 << 30)
    }

    @Test
    func `a value's size is estimated without visiting all of it`() {
        #expect(ValueSize.estimate(String(repeating: "x", count: 5000), upTo: 1 << 20) >= 5000)
        #expect(
            ValueSize.estimate(Array(repeating: "0123456789", count: 100_000), upTo: 1 << 30) >= 1_000_000
        )
        #expect(ValueSize.estimate(["a": Array(repeating: 1, count: 10_000)], upTo: 1 << 30) >= 10_000)
        #expect(ValueSize.estimate(Array(repeating: 1, count: 1 << 20), upTo: 1000) == 1000)
        // A number of a large text counts only its digits.
        let text = JSONText(Array("[1.5,\"\(String(repeating: "x", count: 5000))\"]".utf8))
        #expect(ValueSize.estimate(text, upTo: 1 << 20) >= 5000)
        let number = text.elements?.first
        #expect(number.map { ValueSize.estimate($0, upTo: 1 << 20) < 100 } == true)
    }
}
#endif
