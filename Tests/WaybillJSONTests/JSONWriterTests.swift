import Foundation
import Testing
import WaybillJSON
import WaybillRouting

struct JSONWriterTests {
    private struct User: Codable {
        var name: String
        var age: Int?
        var born: Date?
    }

    private struct Plain: Sendable {}

    private func written(_ value: any Sendable) throws -> String {
        String(decoding: try JSONWriter.encoded(value), as: UTF8.self)
    }

    @Test
    func `the JSON writer writes values of every kind`() throws {
        #expect(try self.written("a\"\\\n\r\t\u{1}é/") == "\"a\\\"\\\\\\n\\r\\t\\u0001é/\"")
        #expect(try self.written(-3) == "-3" && self.written(0.5) == "0.5" && self.written(true) == "true")
        #expect(try self.written(()) == "null" && self.written(Int?.none) == "null")
        #expect(try self.written(Int??.some(.some(3))) == "3" && self.written(Int??.some(nil)) == "null")
        #expect(try self.written(Optional<any Sendable>.some("x")) == "\"x\"")
        #expect(try self.written([1, 2]) == "[1,2]" && self.written([String]()) == "[]")
        #expect(try self.written(["b": 1, "a": 2]) == "{\"a\":2,\"b\":1}")
        let raw = try JSONText(validating: Array(" { \"x\": 1 } ".utf8))
        let mixed: [any Sendable] = [1, "a", (), [true], [String: any Sendable](), raw]
        #expect(try self.written(mixed) == "[1,\"a\",null,[true],{},{ \"x\": 1 }]")
        #expect(
            try self.written(["a": 1, "b": ["c": 2.5]] as [String: any Sendable])
                == "{\"a\":1,\"b\":{\"c\":2.5}}"
        )
        #expect(try self.written(UInt64.max) == "18446744073709551615" && self.written(Float(1.5)) == "1.5")
        #expect(try self.written(Data([1, 2])) == "\"AQI=\"")
        let user = User(name: "a/b", age: 3, born: Date(timeIntervalSince1970: 0.5))
        #expect(
            try self.written(user) == "{\"age\":3,\"born\":\"1970-01-01T00:00:00.500Z\",\"name\":\"a/b\"}"
        )
        #expect(try self.written([user]).hasPrefix("[{"))
        let url = try #require(URL(string: "https://example.com/a"))
        #expect(try self.written(url) == "\"https://example.com/a\"")
    }

    @Test
    func `the JSON writer's error names the type of a value that JSON cannot express`() throws {
        let closure: @Sendable () -> Void = {}
        let mixed: [any Sendable] = [1, Plain()]
        let values: [any Sendable] = [
            Plain(), closure, Double.nan, mixed, [Plain()], ["a": Plain()], [Int.self] as [Any.Type],
        ]
        for value in values {
            let error = #expect(throws: RoutingError.self) { try self.written(value) }
            #expect(error?.code == .notTransferable)
        }
        let error = #expect(throws: RoutingError.self) { try self.written(mixed) }
        #expect(error?.message.contains("Plain") == true)
    }
}
