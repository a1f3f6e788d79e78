import WaybillDocuments
import WaybillRouting
import WaybillTestSupport

/// Generates documents with types of every kind, and with names that are difficult in some language.
struct RandomDocument {
    private var generator: SeededGenerator
    private var schemas: [String: JSONTree] = [:]
    private var schemaNames: [String] = []

    private static let words = [
        "class", "def", "Class", "CLASS", "in", "is", "await", "async", "None", "null", "self", "Self",
        "this",
        "type", "Type", "value", "values", "options", "url", "list", "str", "int", "dict", "object",
        "constructor",
        "prototype", "__proto__", "toString", "then", "init", "deinit", "protocol", "extension", "default",
        "switch",
        "user name", "user-name", "userName", "user_name", "UserName", "größe", "Größe", "名前", "éé", "ﬁn",
        "€", "",
        "1st", "a", "A", "b", "B", "x.y", "\"quote\"", "back\\slash", "new\nline", "$ref", "JSON", "Date",
        "Error",
        "Promise", "Call", "Options", "String", "Int", "UUID", "Optional", "member", "members", "item", "key",
        "True",
        "match", "lambda", "import", "from", "global", "let", "var", "func", "where", "hashValue", "rawValue",
        "description", "encode", "decode", "client", "bus", "transport", "print", "len", "id", "name",
        "bytes",
    ]

    /// Returns the document of a seed.
    static func make(seed: UInt64) throws -> BusDocument {
        var maker = RandomDocument(generator: SeededGenerator(seed: seed))
        return try BusDocument(json: maker.tree().written())
    }

    private mutating func word() -> String { Self.words.randomElement(using: &self.generator) ?? "a" }

    /// Returns distinct words.
    private mutating func words(_ count: Int) -> [String] {
        var found: [String] = []
        for _ in 0..<count {
            let word = self.word()
            if !found.contains(word) { found.append(word) }
        }
        return found
    }

    private mutating func tree() -> JSONTree {
        for number in 0..<self.generator.number(below: 6) {
            let word = self.word().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
            self.schemaNames.append(
                self.generator.isOne(in: 2) ? "\(word.isEmpty ? "T" : word)_\(number)" : "\(word)\(number)"
            )
        }
        for name in self.schemaNames { self.schemas[name] = self.declaration() }
        let modules = self.words(1 + self.generator.number(below: 3))
        let routes = (0..<self.generator.number(below: 8)).map { self.route($0, modules) }
        return [
            "waybill": 1, "title": .string(self.word()), "version": "1.0.0", "routes": .array(routes),
            "components": ["schemas": .object(self.schemas)],
        ]
    }

    private mutating func declaration() -> JSONTree {
        switch self.generator.number(below: 6) {
        case 0: return ["type": "string", "enum": .strings(self.words(1 + self.generator.number(below: 5)))]
        case 1: return ["type": "integer", "enum": [1, 2, -3]]
        case 2:
            let options = self.words(2 + self.generator.number(below: 2)).map { tag -> JSONTree in
                let kind: JSONTree = ["type": "string", "const": .string(tag)]
                return [
                    "type": "object", "required": ["kind"],
                    "properties": ["kind": kind, "value": self.schema(2)],
                ]
            }
            return options.count > 1 ? ["oneOf": .array(options)] : self.object()
        default: return self.object()
        }
    }

    private mutating func object() -> JSONTree {
        var properties: [String: JSONTree] = [:]
        for name in self.words(self.generator.number(below: 6)) { properties[name] = self.schema(3) }
        // A property that refers to its own type must be optional.
        let required = properties.filter { !$0.value.written().contains("$ref") }.keys
            .sorted().filter { _ in self.generator.isOne(in: 2) }
        var tree: JSONTree = ["type": "object", "properties": .object(properties)]
        if !required.isEmpty { tree["required"] = .strings(required) }
        if self.generator.isOne(in: 3) {
            tree["description"] = .string("About \(self.word()) */ \"\"\" \\ here.")
        }
        return tree
    }

    /// Returns the schema of a value, whose collections are at most `depth` deep.
    private mutating func schema(_ depth: Int) -> JSONTree {
        let plain: [JSONTree] = [
            ["type": "boolean"], ["type": "string"], ["type": "number", "format": "double"],
            ["type": "number"],
            ["type": "integer", "minimum": .int(Int.min), "maximum": .int(Int.max), "format": "int64"],
            ["type": "integer", "minimum": 0, "maximum": .int(UInt64.max)],
            ["type": "integer", "minimum": -128, "maximum": 127],
            ["type": "integer", "minimum": 0, "maximum": .int(UInt32.max)],
            ["type": "string", "format": "date-time"], ["type": "string", "format": "uuid"],
            ["type": "string", "contentEncoding": "base64"], ["x-waybill-opaque": "Thing"],
            ["type": "object"],
            ["type": ["string", "null"]], ["type": "null"],
        ]
        guard depth > 0 else { return plain.randomElement(using: &self.generator) ?? [:] }
        switch self.generator.number(below: 8) {
        case 0: return ["type": "array", "items": self.schema(depth - 1)]
        case 1: return ["type": "object", "additionalProperties": self.schema(depth - 1)]
        case 2: return ["anyOf": [self.schema(depth - 1), ["type": "null"]]]
        case 3, 4:
            guard let name = self.schemaNames.randomElement(using: &self.generator) else {
                return ["type": "string"]
            }
            return ["$ref": .string("#/components/schemas/\(name)")]
        case 5 where depth == 3: return self.object()
        default: return plain.randomElement(using: &self.generator) ?? [:]
        }
    }

    private mutating func route(_ number: Int, _ modules: [String]) -> JSONTree {
        let names = self.words(self.generator.number(below: 5))
        let placed = names.filter { !$0.isEmpty && $0.allSatisfy { $0.isLetter && $0.isASCII } }.prefix(1)
        let parameters = names.map { name -> JSONTree in
            let isPlaced = placed.contains(name)
            let isRequired = isPlaced || self.generator.isOne(in: 2)
            var tree: JSONTree = [
                "name": .string(name), "type": "T", "required": .bool(isRequired),
                "schema": isPlaced ? ["type": "string"] : self.schema(2),
            ]
            if !isRequired, self.generator.isOne(in: 2) { tree["default"] = "\"*/ x\"" }
            return tree
        }
        let placeholders = placed.map { name -> JSONTree in
            ["name": .string(name), "type": "string", "captured": true, "schema": ["type": "string"]]
        }
        let address: JSONTree = [
            "scheme": "app", "exact": true, "parameters": .array(placeholders),
            "segments": .strings(["r\(number)"] + placed.map { "{\($0)}" }),
        ]
        let isSent = self.generator.isOne(in: 6)
        var tree: JSONTree = [
            "pattern": .string("app://r\(number)"), "parameters": .array(parameters), "reply": "T",
            "replySchema": self.generator.isOne(in: 5) ? ["type": "null"] : self.schema(3),
            "exposed": isSent ? ["sends"] : ["calls", "sends"], "addresses": [address],
            "documentation": .string("Does \(self.word()).\n\nMore of \"\"\" and */ and \\ here."),
            "failures": [
                [
                    "type": .string(self.word()), "code": .string(self.word()), "message": "it fails",
                    "status": 404,
                ]
            ],
        ]
        if self.generator.isOne(in: 3) {
            tree["progress"] = [
                "update": "T",
                "updateSchema": self.generator.isOne(in: 9) ? ["type": "null"] : self.schema(3),
                "answer": "T",
                "answerSchema": self.generator.isOne(in: 3) ? ["type": "null"] : self.schema(3),
            ]
        }
        if let module = modules.randomElement(using: &self.generator), !self.generator.isOne(in: 4) {
            tree["module"] = .string(module)
            tree["action"] = .string(self.word())
        }
        return tree
    }
}
