import Foundation
import Testing
import WaybillJSON
import WaybillRouting

struct JSONTextTests {
    private struct User: Codable, Equatable {
        var name: String
        var age: Int?
        var born: Date?
    }

    private struct Plain: Sendable {}

    private func text(_ text: String) throws -> JSONText { try JSONText(validating: Array(text.utf8)) }

    @Test func `the first of two members with the same name is read, as a type and without a type`() throws {
        struct User: Decodable { let role: String }
        let text = try JSONText(validating: Array(#"{"user":{"role":"admin","role":"guest"},"user":7}"#.utf8))
        let user = try #require(text.member(named: "user"))
        #expect(try user.decoded(as: User.self)?.role == "admin")
        #expect((user.plain as? [String: any Sendable])?["role"] as? String == "admin")
        let parameter = try #require(text.parameters?["user"] as? JSONText)
        #expect(try parameter.decoded(as: User.self)?.role == "admin")
    }

    @Test
    func `JSON is decoded as the type that its reader asks for`() throws {
        #expect(try self.text("7").decoded(as: Int.self) == 7)
        #expect(try self.text("7").decoded(as: UInt8.self) == 7)
        #expect(try self.text("7").decoded(as: Double.self) == 7)
        #expect(try self.text("3.0").decoded(as: Int.self) == 3)
        #expect(try self.text("18446744073709551615").decoded(as: UInt64.self) == .max)
        #expect(try self.text("[1,2]").decoded(as: [Int].self) == [1, 2])
        #expect(try self.text("{\"a\":1}").decoded(as: [String: Int].self) == ["a": 1])
        #expect(try self.text("null").decoded(as: String?.self) == .some(nil))
        #expect(try self.text("null").decoded(as: Void.self) != nil)
        let user = try self.text("{\"name\":\"Lili\",\"born\":\"2026-11-22T08:30:00.25Z\"}")
        let read = try EncodedValues.decode(user, as: User.self)
        #expect(read?.name == "Lili" && read?.age == nil)
        #expect(read?.born == Date(timeIntervalSince1970: 1_795_336_200.25))
        #expect(try EncodedValues.decode(user, as: User?.self) == read)
        #expect(try EncodedValues.decode(user, as: User??.self) == .some(read))
    }

    @Test(arguments: [
        ("\"params\"", "params", true), ("\"par\\u0061ms\"", "params", true), ("\"\\u0070\"", "p", true),
        ("\"params\"", "param", false), ("\"param\"", "params", false), ("\"paramz\"", "params", false),
        ("\"par\\u0061mz\"", "params", false), ("\"a\\n\"", "a", false), ("\"a\\\\\"", "a\\", true),
        ("\"\"", "", true), ("\"a\"", "", false), ("7", "7", false), ("\"\\ud83d\\ude00\"", "😀", true),
    ])
    func `a JSON string equals the text of its escapes`(json: String, text: String, isSaid: Bool) throws {
        #expect(try self.text(json).says(text) == isSaid)
    }

    @Test
    func `JSON that does not fit the requested type is not decoded`() throws {
        #expect(try self.text("1").decoded(as: Void.self) == nil)
        #expect(try self.text("1").decoded(as: (@Sendable () -> Void).self) == nil)
        #expect(try self.text("{}").decoded(as: Plain.self) == nil)
        #expect(throws: DecodingError.self) { try self.text("300").decoded(as: UInt8.self) }
        #expect(throws: DecodingError.self) { try self.text("\"a\"").decoded(as: Int.self) }
        #expect(throws: DecodingError.self) { try self.text("null").decoded(as: Int.self) }
        #expect(throws: DecodingError.self) { try self.text("1e999").decoded(as: Double.self) }
        let value = try self.text("{\"age\":3}")
        #expect(throws: DecodingError.self) { try EncodedValues.decode(value, as: User.self) }
        #expect(value.kind == "JSON object" && TypeName.of(value: value) == "JSON object")
    }

    @Test
    func `without a requested type, JSON values are text, numbers, Booleans, lists and objects`() throws {
        let text = try self.text("{\"a\":[1,2.5,true,null,\"x\",9223372036854775808]}")
        let plain = try #require(text.plain as? [String: any Sendable])
        let list = try #require(plain["a"] as? [any Sendable])
        #expect(list.count == 6 && list[0] as? Int == 1 && list[1] as? Double == 2.5)
        #expect(list[2] as? Bool == true && list[3] is Void && list[4] as? String == "x")
        #expect(list[5] as? Double == 9_223_372_036_854_775_808)
        #expect(try EncodedValues.decode(text, as: (any Sendable).self) is [String: any Sendable])
        let deep = try EncodedValues.decode(text, as: (any Sendable)??.self)
        #expect(deep as? [String: any Sendable] != nil)
        #expect(try EncodedValues.decode(self.text("\"x\""), as: (any CustomStringConvertible).self) != nil)
        #expect(try EncodedValues.decode(self.text("[1]"), as: [any Sendable].self)?.count == 1)
    }

    @Test(arguments: [
        ("7", 0), ("\"[[[\"", 0), ("[]", 1), ("[[],[]]", 2), ("{\"[{\":[1,{\"a\":[]},2]}", 4),
        ("[[[[1]]],[[2]]]", 4),
    ])
    func `isDeeper compares the nesting depth of a JSON value`(json: String, depth: Int) throws {
        let text = try self.text(json)
        #expect(!text.isDeeper(than: depth) && (depth == 0 || text.isDeeper(than: depth - 1)))
    }

    @Test
    func `a JSON value ends at its own end, whatever its strings contain`() throws {
        var generator = SystemRandomNumberGenerator()
        let parts = ["\\", "\"", "\\\"", "a", "é", "\n", "]", "}", ",", ":", "many plain characters"]
        for _ in 0..<500 {
            let texts = (0..<6).map { _ in
                (0..<Int.random(in: 0...6, using: &generator)).map { _ in
                    parts.randomElement(using: &generator) ?? ""
                }.joined()
            }
            let object: [String: any Sendable] = [
                "k\(texts[0])": texts[1], "a\(texts[2])": [texts[3], ["b": texts[4]]] as [any Sendable],
                "c": texts[5],
            ]
            let bytes = try JSONWriter.encoded(object)
            let text = try JSONText(validating: bytes)
            #expect(text.members?.count == 3)
            #expect(text.member(named: "k\(texts[0])")?.string == texts[1])
            #expect(text.member(named: "c")?.string == texts[5])
            let list = text.member(named: "a\(texts[2])")?.elements
            #expect(list?.count == 2 && list?.first?.string == texts[3])
            #expect(list?.last?.member(named: "b")?.string == texts[4])
            let read = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
            #expect(read?["c"] as? String == texts[5])
        }
    }

    @Test(arguments: [
        ("\"\"", ""), ("\"é\"", "é"), ("\"\\u00e9\\ud83d\\ude00\\n\"", "é😀\n"),
        ("\"a\\\"b\\\\c\\b\\f\\n\\r\\t\\/\"", "a\"b\\c\u{8}\u{c}\n\r\t/"),
    ])
    func `a JSON string's escapes are decoded`(json: String, string: String) throws {
        #expect(try self.text(json).string == string)
    }

    @Test
    func `the members of a JSON object become parameters`() throws {
        let text = """
            {"text":"a","whole":3,"half":0.5,"yes":true,"nothing":null,"list":[1],"object":{"b":2},
             "large":18446744073709551615,"tooLarge":1e999,"scientific":1.5e3,"text":"b"}
            """
        let parameters = try JSONText.parameters(of: Array(text.utf8))
        #expect(parameters["text"] as? String == "a")
        #expect(parameters["whole"] as? Int == 3 && (parameters["half"] as? JSONText)?.double == 0.5)
        #expect(parameters["yes"] as? Bool == true && (parameters["scientific"] as? JSONText)?.double == 1500)
        let nothing = try #require(parameters["nothing"])
        #expect(Parameters.isNil(nothing))
        for name in ["list", "object", "large", "tooLarge"] { #expect(parameters[name] is JSONText) }
        #expect(throws: JSONError.notObject) { try JSONText.parameters(of: Array("[1]".utf8)) }
        #expect(throws: JSONError.malformed(at: 3)) { try JSONText.parameters(of: Array("{} {}".utf8)) }
    }

    @Test(arguments: [("-1", 500), ("200", 500), ("404", 404), ("99999999999", 500)])
    func `a declared error of another process has a status of HTTP`(status: String, kept: Int) throws {
        let error = DeclaredError(
            try self.text("{\"type\":\"T\",\"code\":\"c\",\"status\":\(status)}"),
            message: ""
        )
        #expect(error?.status == kept)
    }
}
