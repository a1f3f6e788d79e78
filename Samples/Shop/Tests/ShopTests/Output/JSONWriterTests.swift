import Foundation
import ShopAPI
import Testing

@testable import Shop

@Suite
struct JSONWriterTests {
    private func json(_ value: some Encodable) throws -> String {
        let writer = JSONWriter()
        try writer.write(document: value)
        return String(decoding: writer.text.bytes, as: UTF8.self)
    }

    private struct Everything: Codable, Equatable {
        var text = "a \"quoted\" \\ line\nwith\ttabs, \u{7} bells, \u{9b} and 茶"
        var number = -7
        var small: UInt8 = 255
        var big = UInt64.max
        var fraction = 0.25
        var truth = true
        var nothing: String?
        var list = [[1, 2], []]
        var table = ["key": Money(cents: 12)]
        var inner = [
            CartLine(Product(id: "a", name: "A", category: "c", price: .zero, stock: 1), quantity: 2)
        ]
    }

    @Test func `a value that the JSON writer has written can be decoded`() throws {
        let value = Everything()
        let text = try self.json(value)
        #expect(try JSONDecoder().decode(Everything.self, from: Data(text.utf8)) == value)
        #expect(text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
    }

    @Test func `the JSON writer writes keys in the order of the declaration`() throws {
        #expect(try self.json(User(id: 1, name: "Zoë")) == #"{"id":1,"name":"Zoë"}"#)
    }

    @Test func `the JSON writer writes values other than objects`() throws {
        #expect(try self.json([1, 2]) == "[1,2]")
        #expect(try self.json([String]()) == "[]")
        #expect(try self.json("x") == #""x""#)
        #expect(try self.json(String?.none) == "null")
        #expect(try self.json(Double.nan) == "null")
        #expect(try self.json(Money(cents: 5)) == "5")
    }

    private struct Nested: Encodable {
        private enum Key: CodingKey {
            case outer, inner, last
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            var inner = container.nestedContainer(keyedBy: Key.self, forKey: .inner)
            try inner.encode(1, forKey: .outer)
            var list = container.nestedUnkeyedContainer(forKey: .outer)
            try list.encode("a")
            try list.encodeNil()
            try container.encodeNil(forKey: .last)
        }
    }

    @Test func `the JSON writer closes nested containers in order`() throws {
        #expect(try self.json(Nested()) == #"{"inner":{"outer":1},"outer":["a",null],"last":null}"#)
    }
}
