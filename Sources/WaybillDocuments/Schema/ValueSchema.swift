/// A JSON Schema of the values of a type.
///
/// Documents create schemas from the types of parameters and replies. The schema of a structure contains the
/// structure's properties. The schema of an enumeration contains its cases if the enumeration is
/// `CaseIterable`. Types of the standard library and Foundation have fixed schemas. A type is opaque if its
/// values cannot be determined from its `init(from:)`. To describe an opaque type, conform the type to
/// ``DocumentedValue``.
public struct ValueSchema: Sendable, Hashable {
    /// The schema as a tree.
    ///
    /// Types of a program are references to `#/components/schemas/`.
    package let tree: JSONTree

    init(_ tree: JSONTree) { self.tree = tree }

    /// Creates a schema from a text in a program; the schema is opaque if the text is not a JSON object.
    init(stated json: String, of type: String) {
        if let tree = try? JSONTree(json: json), case .object = tree {
            self.tree = tree
        } else {
            self = .opaque(type, "the type declares a schema that is not a JSON object")
        }
    }

    /// The schema as JSON, on one line.
    public var json: String { self.tree.written(isPretty: false) }
}

/// A type that declares its own schema.
///
/// Conform a type to this protocol when documents cannot determine which values its `init(from:)` accepts:
///
/// ```swift
/// import WaybillDocuments
///
/// struct Temperature: Codable, DocumentedValue {
///     static let documentedSchema = #"{"type": "object", "properties": {"celsius": {"minimum": -273.15}}}"#
///
///     let celsius: Double
/// }
/// ```
public protocol DocumentedValue {
    /// The schema of the type's values, as the text of a JSON Schema of version 2020-12.
    ///
    /// If the text is not a JSON object, documents describe the type as opaque: its values are not known.
    static var documentedSchema: String { get }
}

extension ValueSchema {
    /// Returns a schema that allows any value, with a type's name and the reason why it is not known.
    static func opaque(_ type: String, _ reason: String) -> Self {
        Self(["description": .string("\(type): \(reason)"), "x-waybill-opaque": .string(type)])
    }

    static let null = Self(["type": "null"])
    static let boolean = Self(["type": "boolean"])
    static let string = Self(["type": "string"])
    static let number = Self(["type": "number", "format": "double"])

    static func text(format: String) -> Self { Self(["type": "string", "format": .string(format)]) }

    static func integer<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Self {
        var tree: JSONTree = [
            "type": "integer", "minimum": .int(Integer.min), "maximum": .int(Integer.max),
        ]
        if Integer.isSigned, Integer.bitWidth >= 32 { tree["format"] = .string("int\(Integer.bitWidth)") }
        return Self(tree)
    }

    static func array(of element: ValueSchema) -> Self { Self(["type": "array", "items": element.tree]) }

    static func dictionary(of value: ValueSchema) -> Self {
        Self(["type": "object", "additionalProperties": value.tree])
    }

    static let referencePrefix = "#/components/schemas/"

    static func reference(_ name: String) -> Self { Self(["$ref": .string(Self.referencePrefix + name)]) }

    /// The name of the schema to which this schema refers; nil if this schema is not a reference.
    var referenced: String? {
        guard let text = self.tree["$ref"]?.text, text.hasPrefix(Self.referencePrefix) else { return nil }
        return String(text.dropFirst(Self.referencePrefix.count))
    }

    /// A schema that also permits null.
    var orNull: Self {
        if case .string(let type) = self.tree["type"] {
            if type == "null" { return self }
            var tree = self.tree
            tree["type"] = [.string(type), "null"]
            if let values = tree["enum"]?.elements { tree["enum"] = .array(values + [.null]) }
            return Self(tree)
        }
        if self.tree["type"] != nil || self.isOpaque || self.tree["anyOf"] != nil { return self }
        return Self(["anyOf": [self.tree, ["type": "null"]]])
    }

    var isOpaque: Bool { self.tree["x-waybill-opaque"] != nil && self.tree["type"] == nil }
}
