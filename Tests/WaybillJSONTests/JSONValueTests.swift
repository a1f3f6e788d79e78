import FoundationEssentials
import Testing
import WaybillJSON
import WaybillRouting

struct JSONValueTests {
    private struct User: Codable, Equatable {
        var name: String
        var age: Int?
        var born: Date?
    }

    private struct Plain: Sendable {}

    private func value(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    @Test
    func `takes the type that its reader asks for`() throws {
        let user = try self.value("{\"name\":\"Lili\",\"born\":\"2026-11-22T08:30:00.25Z\"}")
        let read = try EncodedValues.decode(user, as: User.self)
        #expect(read?.name == "Lili" && read?.age == nil)
        #expect(read?.born == Date(timeIntervalSince1970: 1_795_336_200.25))
        #expect(try EncodedValues.decode(user, as: User?.self) == read)
        #expect(try EncodedValues.decode(user, as: User??.self) == .some(read))
        #expect(try EncodedValues.decode(self.value("[1,2]"), as: [Int].self) == [1, 2])
        #expect(try EncodedValues.decode(self.value("3"), as: Double.self) == 3)
        #expect(try EncodedValues.decode(self.value("3.0"), as: Int.self) == 3)
        #expect(try EncodedValues.decode(self.value("18446744073709551615"), as: UInt64.self) == .max)
        #expect(try EncodedValues.decode(self.value("null"), as: Int?.self) == .some(nil))
        #expect(try EncodedValues.decode(self.value("{\"a\":1}"), as: [String: Int].self) == ["a": 1])
    }

    @Test
    func `says why it is not of a type`() throws {
        let value = try self.value("{\"age\":3}")
        #expect(throws: DecodingError.self) { try EncodedValues.decode(value, as: User.self) }
        #expect(throws: DecodingError.self) { try EncodedValues.decode(self.value("null"), as: Int.self) }
        #expect(try EncodedValues.decode(value, as: Plain.self) == nil)
        #expect(value.kind == "JSON object")
        #expect(TypeName.of(value: value) == "JSON object")
    }

    @Test
    func `says what it says where no type is asked for`() throws {
        let value = try self.value("{\"a\":[1,2.5,\"x\",true,null]}")
        let plain = try #require(value.plain as? [String: any Sendable])
        let list = try #require(plain["a"] as? [any Sendable])
        #expect(list[0] as? Int == 1 && list[1] as? Double == 2.5 && list[2] as? String == "x")
        #expect(list[3] as? Bool == true && list[4] is Void)
        #expect(try EncodedValues.decode(value, as: (any Sendable).self) is [String: any Sendable])
        let deep = try EncodedValues.decode(value, as: (any Sendable)??.self)
        #expect(deep as? [String: any Sendable] != nil)
        #expect(try EncodedValues.decode(self.value("\"x\""), as: (any CustomStringConvertible).self) != nil)
        #expect(try EncodedValues.decode(self.value("[1]"), as: [any Sendable].self)?.count == 1)
    }

    @Test
    func `an object's members are parameters`() throws {
        let text = """
            {"text":"a","whole":3,"half":0.5,"yes":true,"nothing":null,"list":[1],"object":{"b":2},
             "large":18446744073709551615,"text":"b"}
            """
        let parameters = try JSONValue.parameters(of: Array(text.utf8))
        #expect(parameters["text"] as? String == "b")
        #expect(parameters["whole"] as? Int == 3 && parameters["half"] as? Double == 0.5)
        #expect(parameters["yes"] as? Bool == true)
        let nothing = try #require(parameters["nothing"])
        #expect(Parameters.isNil(nothing))
        for name in ["list", "object", "large"] { #expect(parameters[name] is JSONValue) }
        #expect(throws: JSONError.self) { try JSONValue.parameters(of: Array("[1]".utf8)) }
        #expect(throws: JSONError.self) { try JSONValue.parameters(of: Array("{} {}".utf8)) }
    }

    @Test
    func `values of every kind are written`() throws {
        func text(_ value: any Sendable) throws -> String {
            String(decoding: try JSONBytes.encode(value), as: UTF8.self)
        }
        #expect(try text("a\"\\\n\u{1}é/") == "\"a\\\"\\\\\\n\\u0001é/\"")
        #expect(try text(-3) == "-3" && text(0.5) == "0.5" && text(true) == "true" && text(()) == "null")
        #expect(try text(Int?.none) == "null" && text(Int??.some(.some(3))) == "3")
        #expect(try text(Optional<any Sendable>.some("x")) == "\"x\"")
        #expect(try text([1, 2]) == "[1,2]" && text([String]()) == "[]")
        #expect(try text(["b": 1, "a": 2]) == "{\"a\":2,\"b\":1}")
        let mixed: [any Sendable] = [1, "a", (), [String: any Sendable](), try self.value("{ \"x\": 1 }")]
        #expect(try text(mixed) == "[1,\"a\",null,{},{ \"x\": 1 }]")
        #expect(try text(UInt64.max) == "18446744073709551615" && text(Float(1.5)) == "1.5")
        let user = User(name: "a/b", age: 3, born: Date(timeIntervalSince1970: 0.5))
        #expect(try text(user) == "{\"age\":3,\"born\":\"1970-01-01T00:00:00.500Z\",\"name\":\"a/b\"}")
        #expect(try text([user]).hasPrefix("[{"))
        let url = try #require(URL(string: "https://example.com/a"))
        #expect(try text(url) == "\"https://example.com/a\"")
    }

    @Test
    func `what cannot be written says so before a byte is`() throws {
        let closure: @Sendable () -> Void = {}
        let mixed: [any Sendable] = [1, Plain()]
        let values: [any Sendable] = [Plain(), closure, Double.nan, mixed, [Plain()], ["a": Plain()]]
        for value in values {
            var bytes: [UInt8] = [1]
            let error = #expect(throws: RoutingError.self) { try JSONBytes.append(value, to: &bytes) }
            #expect(error?.code == .notTransferable && bytes == [1])
        }
    }
}
