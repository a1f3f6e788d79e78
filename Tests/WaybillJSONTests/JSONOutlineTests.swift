import Testing

@testable import WaybillJSON

/// An outline finds values by their positions, which the validating pass has recorded.
struct JSONOutlineTests {
    private func outline(_ text: String, levels: Int, depthLimit: Int = 64) throws(JSONError) -> JSONNode {
        try JSONOutline(JSONText(Array(text.utf8)), depthLimit: depthLimit, levels: levels).root
    }

    /// Returns the text of a value, built from its outline.
    private func rebuilt(_ node: JSONNode) -> String {
        var parts: [String] = []
        switch node.shape {
        case .object:
            node.forEachChild { parts.append("\($0.name):\(self.rebuilt($0))") }
            return "{\(parts.joined(separator: ","))}"
        case .array:
            node.forEachChild { parts.append(self.rebuilt($0)) }
            return "[\(parts.joined(separator: ","))]"
        case .string: return "<\(node.string ?? "")>"
        default: return String(decoding: node.text.slice, as: UTF8.self)
        }
    }

    /// Returns the text of a value, built from its text.
    private func rebuilt(_ text: JSONText) -> String {
        switch text.shape {
        case .object:
            let members = (text.members ?? []).map { "\($0.name):\(self.rebuilt($0.value))" }
            return "{\(members.joined(separator: ","))}"
        case .array:
            return "[\((text.elements ?? []).map { self.rebuilt($0) }.joined(separator: ","))]"
        case .string: return "<\(text.string ?? "")>"
        default: return String(decoding: text.slice, as: UTF8.self)
        }
    }

    /// Returns a random JSON value, with white space at random places.
    private func example(_ depth: Int, using generator: inout SystemRandomNumberGenerator) -> String {
        let space = Bool.random(using: &generator) ? " " : ""
        let leaves = [
            "null", "true", "-1.5e3", "0", #""""#, #""text""#, #""é\n\"]}""#, "{}", "[]", "[ ]", "{ }",
        ]
        guard depth > 0, Int.random(in: 0..<4, using: &generator) > 0 else {
            return space + (leaves.randomElement(using: &generator) ?? "0") + space
        }
        let values = (0..<Int.random(in: 1...3, using: &generator)).map { _ in
            self.example(depth - 1, using: &generator)
        }
        guard Bool.random(using: &generator) else { return "\(space)[\(values.joined(separator: ","))]" }
        let members = values.enumerated().map { #"\#(space)"\#($0 % 2 == 0 ? "a" : "né")"\#(space):\#($1)"# }
        return "{\(members.joined(separator: ","))\(space)}\(space)"
    }

    @Test func `an outline finds each value, however few levels it records`() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<500 {
            let text = self.example(6, using: &generator)
            let expected = self.rebuilt(try JSONText(validating: Array(text.utf8)))
            for levels in 0...7 {
                #expect(
                    self.rebuilt(try self.outline(text, levels: levels)) == expected,
                    "\(levels): \(text)"
                )
            }
        }
    }

    @Test func `a long array has no recorded elements, and the values after it are recorded`() throws {
        for count in [1, 1023, 1024, 1025, 3000] {
            let numbers = (0..<count).map { #"{"n":\#($0)}"# }.joined(separator: ",")
            let node = try self.outline(#"{"many":[\#(numbers)],"last":{"a":{"b":1}}}"#, levels: 4)
            var found: [Int] = []
            node["many"]?.forEachChild { found.append($0["n"]?.text.int ?? -1) }
            #expect(found == Array(0..<count))
            #expect(node["last"]?["a"]?["b"]?.text.int == 1)
            #expect((node.outline.places.count > 1024) == (1000...1024 ~= count))
        }
    }

    @Test func `an outline rejects invalid or too deep JSON as validation without an outline does`() {
        for text in ["", "nul", "[1,]", #"{"a":}"#, #"{"a":1"#, #"["\x"]"#, "{}{}", #"{"a" 1}"#] {
            #expect(throws: JSONError.self, "\(text)") { try self.outline(text, levels: 3) }
        }
        #expect(throws: JSONError.notUTF8) {
            try JSONOutline(JSONText([0x22, 0xFF, 0x22]), depthLimit: 8, levels: 2)
        }
        #expect(throws: JSONError.tooDeep(limit: 2)) { try self.outline("[[[1]]]", levels: 1, depthLimit: 2) }
    }

    @Test func `the first of two JSON members with the same name is used`() throws {
        let node = try self.outline(#"{"a":1,"b":2,"a":"x","\u0061":3}"#, levels: 1)
        #expect(node["a"]?.text.int == 1)
        #expect(node["c"] == nil)
        var names: [String] = []
        node.forEachChild { names.append($0.name) }
        #expect(names == ["a", "b", "a", "a"])
    }

    @Test func `an element of an array has no name`() throws {
        let node = try self.outline(#"[1,"a"]"#, levels: 1)
        #expect(node.name.isEmpty && !node.isNamed(""))
        var children = 0
        node.forEachChild { child in
            children += 1
            #expect(child.name.isEmpty && !child.isNamed("") && !child.isNamed("a"))
        }
        #expect(children == 2)
    }

    @Test func `a part that is kept of a large text does not retain the text`() throws {
        let filler = String(repeating: "x", count: 2000)
        let node = try self.outline(#"{"small":{"a":[1]},"text":"\#(filler)"}"#, levels: 1)
        #expect(node["small"]?.kept.bytes.count == 9)
        #expect((node["small"]?.parameter as? JSONText)?.bytes.count == 9)
        #expect(node["text"]?.parameter as? String == filler)
        let large = try self.outline(#"{"large":["\#(filler)"]}"#, levels: 1)
        #expect((large["large"]?.kept.bytes.count ?? 0) > 2004)
        // The part keeps the type that follows its value.
        let noted = try self.outline(#"{"result":[1],"$type":"Numbers","x":"\#(filler)"}"#, levels: 1)
        let kept = try #require(noted["result"]?.kept)
        #expect(kept.bytes.count < 50 && kept.kind == "Numbers" && kept.elements?.count == 1)
    }
}
