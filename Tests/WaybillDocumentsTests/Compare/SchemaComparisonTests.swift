import Testing

@testable import WaybillDocuments

/// Differences between two schemas: which of them break requests, and which of them break replies.
struct SchemaComparisonTests {
    struct Change: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let old: JSONTree
        let new: JSONTree
        let breaksRequests: Bool
        let breaksReplies: Bool
    }

    private static func option(_ tag: String, _ schema: JSONTree) -> JSONTree {
        [
            "type": "object", "required": ["kind"],
            "properties": ["kind": ["type": "string", "const": .string(tag)], "value": schema],
        ]
    }

    // The checker of leaks cannot follow references in trees that exist until the program ends.
    private static var part: JSONTree { ["$ref": "#/components/schemas/Part"] }
    private static var text: JSONTree { ["type": "string"] }
    private static var number: JSONTree { ["type": "number"] }
    private static var union: JSONTree {
        [
            "oneOf": [Self.option("a", Self.text), Self.option("b", Self.text)]
        ]
    }

    static var changes: [Change] {
        [
            Change(
                testDescription: "a new option",
                old: Self.union,
                new: ["oneOf": .array((Self.union["oneOf"]?.elements ?? []) + [Self.option("c", Self.text)])],
                breaksRequests: false,
                breaksReplies: true
            ),
            Change(
                testDescription: "a removed option",
                old: ["oneOf": .array((Self.union["oneOf"]?.elements ?? []) + [Self.option("c", Self.text)])],
                new: Self.union,
                breaksRequests: true,
                breaksReplies: false
            ),
            Change(
                testDescription: "options in another order",
                old: Self.union,
                new: ["oneOf": .array((Self.union["oneOf"]?.elements ?? []).reversed())],
                breaksRequests: false,
                breaksReplies: false
            ),
            Change(
                testDescription: "another type of a property of an option",
                old: Self.union,
                new: ["oneOf": [Self.option("a", Self.text), Self.option("b", Self.number)]],
                breaksRequests: true,
                breaksReplies: true
            ),
            Change(
                testDescription: "a union in place of an object",
                old: Self.option("a", Self.text),
                new: Self.union,
                breaksRequests: true,
                breaksReplies: true
            ),
            Change(
                testDescription: "another second alternative without a tag",
                old: ["anyOf": [Self.text, Self.number]],
                new: ["anyOf": [Self.text, ["type": "boolean"]]],
                breaksRequests: true,
                breaksReplies: true
            ),
            Change(
                testDescription: "a constant that becomes a list",
                old: ["type": "string", "const": "a"],
                new: ["type": "string", "enum": ["a", "b"]],
                breaksRequests: false,
                breaksReplies: true
            ),
            Change(
                testDescription: "a second use of a type that may not be null any more",
                old: [
                    "type": "object",
                    "properties": ["a": Self.part, "b": ["anyOf": [Self.part, ["type": "null"]]]],
                ],
                new: ["type": "object", "properties": ["a": Self.part, "b": Self.part]],
                breaksRequests: true,
                breaksReplies: false
            ),
            Change(
                testDescription: "values of a dictionary that are unknown now",
                old: ["type": "object", "additionalProperties": Self.text],
                new: ["type": "object"],
                breaksRequests: false,
                breaksReplies: true
            ),
            Change(
                testDescription: "values of a dictionary that are known now",
                old: ["type": "object"],
                new: ["type": "object", "additionalProperties": Self.text],
                breaksRequests: true,
                breaksReplies: false
            ),
            Change(
                testDescription: "keys of a dictionary that are whole numbers now",
                old: ["type": "object", "additionalProperties": Self.text],
                new: [
                    "type": "object", "additionalProperties": Self.text,
                    "propertyNames": ["pattern": "^[0-9]$"],
                ],
                breaksRequests: true,
                breaksReplies: false
            ),
            Change(
                testDescription: "an object with another type of member in place of a dictionary",
                old: ["type": "object", "additionalProperties": Self.text],
                new: ["type": "object", "properties": ["a": Self.number]],
                breaksRequests: true,
                breaksReplies: true
            ),
            Change(
                testDescription: "elements of an array that are known now",
                old: ["type": "array"],
                new: ["type": "array", "items": Self.text],
                breaksRequests: true,
                breaksReplies: false
            ),
        ] + Self.statedChanges
    }

    /// Changes of schemas that a type declares itself, or of values that are lists of numbers.
    private static var statedChanges: [Change] {
        [
            Change(
                testDescription: "bytes that are text now",
                old: ["type": "string", "contentEncoding": "base64"],
                new: Self.text,
                breaksRequests: true,
                breaksReplies: true
            ),
            Change(
                testDescription: "an integer in place of a list of integers",
                old: ["type": "integer", "enum": [1, 9]],
                new: ["type": "integer", "minimum": 0, "maximum": 255],
                breaksRequests: false,
                breaksReplies: true
            ),
            Change(
                testDescription: "an integer whose range excludes values of an earlier list",
                old: ["type": "integer", "enum": [1, 900]],
                new: ["type": "integer", "minimum": 0, "maximum": 255],
                breaksRequests: true,
                breaksReplies: true
            ),
            Change(
                testDescription: "a list of integers in place of an integer",
                old: ["type": "integer", "minimum": 0, "maximum": 255],
                new: ["type": "integer", "enum": [1, 9]],
                breaksRequests: true,
                breaksReplies: false
            ),
            Change(
                testDescription: "a number with a minimum in place of an integer",
                old: ["type": "integer"],
                new: ["type": "number", "minimum": 10],
                breaksRequests: true,
                breaksReplies: true
            ),
            Change(
                testDescription: "another keyword that the comparison does not know",
                old: ["type": "number"],
                new: ["type": "number", "multipleOf": 2],
                breaksRequests: true,
                breaksReplies: true
            ),
            Change(
                testDescription: "another title",
                old: ["type": "number", "title": "a"],
                new: ["type": "number", "title": "b", "x-other": true],
                breaksRequests: false,
                breaksReplies: false
            ),
            Change(
                testDescription: "other alternative types",
                old: ["type": ["string", "integer"]],
                new: ["type": ["array", "boolean"]],
                breaksRequests: true,
                breaksReplies: true
            ),
            Change(
                testDescription: "another type in the second of two schemas",
                old: ["allOf": [["type": "object"], ["properties": ["a": Self.text]]]],
                new: ["allOf": [["type": "object"], ["properties": ["a": Self.number]]]],
                breaksRequests: true,
                breaksReplies: true
            ),
            Change(
                testDescription: "a member without a schema that is required",
                old: ["type": "object"],
                new: ["type": "object", "required": ["a"]],
                breaksRequests: true,
                breaksReplies: false
            ),
            Change(
                testDescription: "an object that allows no other members any more",
                old: ["type": "object", "properties": ["a": Self.text]],
                new: ["type": "object", "properties": ["a": Self.text], "additionalProperties": false],
                breaksRequests: true,
                breaksReplies: false
            ),
            Change(
                testDescription: "a dictionary that allows no members any more",
                old: ["type": "object", "additionalProperties": Self.text],
                new: ["type": "object", "additionalProperties": false],
                breaksRequests: true,
                breaksReplies: false
            ),
            Change(
                testDescription: "a second option",
                old: ["oneOf": [Self.option("a", Self.text)]],
                new: Self.union,
                breaksRequests: false,
                breaksReplies: true
            ),
            Change(
                testDescription: "a single option that is left",
                old: Self.union,
                new: ["oneOf": [Self.option("a", Self.text)]],
                breaksRequests: true,
                breaksReplies: false
            ),
        ]
    }

    @Test func `types that are nested very deeply are compared only to a part`() {
        let last = 20_000
        func schemas(_ inmost: JSONTree) -> [String: ValueSchema] {
            var schemas = ["S\(last)": ValueSchema(inmost)]
            for index in 0..<last {
                let inner: JSONTree = ["$ref": .string("#/components/schemas/S\(index + 1)")]
                schemas["S\(index)"] = ValueSchema(["type": "object", "properties": ["p": inner]])
            }
            return schemas
        }
        let comparison = SchemaComparison(
            old: schemas(Self.text),
            new: schemas(Self.number),
            isRequest: true
        )
        let first = ValueSchema(["$ref": "#/components/schemas/S0"])
        let found = comparison.differences(first, first, at: "it")
        #expect(found.count == 1)
        #expect(found.first?.isBreaking == true)
    }

    @Test(arguments: Self.changes)
    func `a change breaks requests if fewer values are allowed, and replies if more are`(change: Change) {
        let schemas = ["Part": ValueSchema(["type": "object", "properties": ["name": Self.text]])]
        for (isRequest, breaks) in [(true, change.breaksRequests), (false, change.breaksReplies)] {
            let comparison = SchemaComparison(old: schemas, new: schemas, isRequest: isRequest)
            let found = comparison.differences(ValueSchema(change.old), ValueSchema(change.new), at: "it")
            #expect(found.contains(where: \.isBreaking) == breaks, "\(isRequest): \(found)")
        }
    }
}
