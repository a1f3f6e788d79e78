internal import FoundationEssentials
internal import Waybill
internal import WaybillRouting

/// The schemas of the types in one document; each type of the program has a name, and occurs once.
struct SchemaRegistry {
    /// The schemas to which other schemas refer, by name.
    private(set) var named: [String: ValueSchema] = [:]
    private var known: [ObjectIdentifier: KnownType] = [:]
    /// The names of the types for which a schema probe is running.
    private var begun: [ObjectIdentifier: String] = [:]
    /// The types to which other types referred while a schema probe was running for them.
    private var isReferred: Set<ObjectIdentifier> = []
    /// The types that declare their own schema and for which a value has already been requested.
    private var sampled: Set<ObjectIdentifier> = []

    /// The schema of a type, and a sample value, which probes of types that contain this type decode.
    ///
    /// Values of compound types, and of types that declare their own schema, are created only when they are
    /// needed.
    private struct KnownType {
        let schema: ValueSchema
        let sample: Any?
    }

    /// Returns the schema of values of a type as JSON.
    mutating func schema(of type: any Any.Type) -> ValueSchema { self.look(into: type).schema }

    /// Returns the schema of a type; an opaque schema with the name of the type if only the name is known.
    mutating func schema(of type: (any Any.Type)?, named name: String) -> ValueSchema {
        type.map { self.schema(of: $0) } ?? .opaque(name, "not known")
    }

    /// Returns the schema of a type, and a value; the value is nil if it could not be created.
    mutating func sample<Value>(of type: Value.Type) -> (schema: ValueSchema, value: Value?) {
        let known = self.look(into: type)
        if let compound = type as? any CompoundSchema.Type {
            return (known.schema, compound.sample(in: &self) as? Value)
        }
        let sample = known.sample ?? self.sampleOfStated(type, known.schema)
        return (known.schema, sample as? Value)
    }

    /// Returns a value of a type that declares its own schema; nil if the value could not be created.
    private mutating func sampleOfStated(_ type: any Any.Type, _ schema: ValueSchema) -> Any? {
        let id = ObjectIdentifier(type)
        guard type is any DocumentedValue.Type, let decodable = type as? any Decodable.Type,
            let name = schema.referenced, self.sampled.insert(id).inserted
        else { return nil }
        let stated = self.named[name]
        let sample = self.probe(decodable, name: name, id: id).sample
        self.named[name] = stated
        self.known[id] = KnownType(schema: schema, sample: sample)
        return sample
    }

    private mutating func look(into type: any Any.Type) -> KnownType {
        let id = ObjectIdentifier(type)
        if let known = self.known[id] { return known }
        if let name = self.begun[id] {
            self.isReferred.insert(id)
            return KnownType(schema: .reference(name), sample: nil)
        }
        let known = self.describe(type, id)
        self.known[id] = known
        return known
    }

    private mutating func describe(_ type: any Any.Type, _ id: ObjectIdentifier) -> KnownType {
        if let plain = Self.plain[id] { return KnownType(schema: plain.schema, sample: plain.sample) }
        if let compound = type as? any CompoundSchema.Type {
            return KnownType(schema: compound.schema(in: &self), sample: nil)
        }
        let name = self.freeName(for: type)
        if let documented = type as? any DocumentedValue.Type {
            self.named[name] = ValueSchema(stated: documented.documentedSchema, of: TypeName.of(type))
            return KnownType(schema: .reference(name), sample: nil)
        }
        if let cases = (type as? any CaseIterable.Type).flatMap({ EnumerationValues.all(of: $0) }) {
            self.named[name] = cases.schema
            return KnownType(schema: .reference(name), sample: cases.first)
        }
        guard let decodable = type as? any Decodable.Type else {
            return KnownType(schema: .opaque(TypeName.of(type), "not Decodable"), sample: nil)
        }
        return self.probe(decodable, name: name, id: id)
    }

    /// Finds the schema of a type by running the type's `init(from:)` without data.
    private mutating func probe(
        _ type: any Decodable.Type,
        name: String,
        id: ObjectIdentifier
    ) -> KnownType {
        self.begun[id] = name
        // Reserve the name, so that a nested type does not use the name.
        self.named[name] = self.named[name] ?? .opaque(name, "")
        let (found, made) = SchemaProbe.look(into: type, &self)
        let sample = made ?? EnumerationValues.first(of: type)
        self.begun[id] = nil
        // A type that is not an object, such as a wrapped number, needs a name only if it is recursive.
        guard found.isNamed || self.isReferred.contains(id) else {
            self.named[name] = nil
            return KnownType(schema: found.schema, sample: sample)
        }
        self.named[name] = found.schema
        return KnownType(schema: .reference(name), sample: sample)
    }

    /// Returns a type's name with the characters that all formats allow, and a number if the name exists.
    private func freeName(for type: any Any.Type) -> String {
        var name = ""
        for character in "\(type)" {
            let isPlain = character.isASCII && (character.isLetter || character.isNumber)
            if isPlain || character == "." {
                name.append(character)
            } else if name.last != "_" {
                name.append("_")
            }
        }
        while name.last == "_" { name.removeLast() }
        if name.isEmpty { name = "Type" }
        guard self.named[name] != nil || name == OpenAPIWriter.problemName else { return name }
        var number = 2
        while self.named["\(name)_\(number)"] != nil { number += 1 }
        return "\(name)_\(number)"
    }

    /// The types of the standard library and of Foundation whose values are encoded as single JSON values.
    private static let plain: [ObjectIdentifier: (schema: ValueSchema, sample: any Sendable)] = {
        var plain: [ObjectIdentifier: (schema: ValueSchema, sample: any Sendable)] = [:]
        func add<Value: Sendable>(_ sample: Value, _ schema: ValueSchema) {
            plain[ObjectIdentifier(Value.self)] = (schema, sample)
        }
        func add<Integer: FixedWidthInteger & Sendable>(integer: Integer) {
            add(integer, .integer(Integer.self))
        }
        add((), .null)
        add(false, .boolean)
        add("a", .string)
        add(Substring("a"), .string)
        add(1.0, .number)
        add(Float(1), ValueSchema(["type": "number", "format": "float"]))
        add(Decimal(1), ValueSchema(["type": "number"]))
        add(integer: 1)
        add(integer: Int8(1))
        add(integer: Int16(1))
        add(integer: Int32(1))
        add(integer: Int64(1))
        add(integer: UInt(1))
        add(integer: UInt8(1))
        add(integer: UInt16(1))
        add(integer: UInt32(1))
        add(integer: UInt64(1))
        add(Date(timeIntervalSinceReferenceDate: 0), .text(format: "date-time"))
        add(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), .text(format: "uuid"))
        if let url = URL(string: "app://example") { add(url, .text(format: "uri-reference")) }
        add(Data(), ValueSchema(["type": "string", "contentEncoding": "base64"]))
        return plain
    }()
}

/// A type whose values contain values of other types: an array, an object or an optional.
private protocol CompoundSchema {
    static func schema(in registry: inout SchemaRegistry) -> ValueSchema

    /// Returns a value. The value contains an element if an element could be created.
    static func sample(in registry: inout SchemaRegistry) -> Any

    /// A value without elements.
    static var empty: Any { get }
}

/// Empty values, for a second attempt when a type has rejected other values.
enum EmptyValue {
    /// Returns the empty text, 0 or the empty collection; nil for other types.
    static func of(_ type: any Any.Type) -> Any? {
        switch type {
        case is String.Type: ""
        case is Double.Type: 0.0
        case is Float.Type: Float(0)
        case let integer as any FixedWidthInteger.Type: self.zero(integer)
        case let compound as any CompoundSchema.Type: compound.empty
        default: nil
        }
    }

    private static func zero<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Any { Integer.zero }
}

extension Optional: CompoundSchema {
    static func schema(in registry: inout SchemaRegistry) -> ValueSchema {
        registry.schema(of: Wrapped.self).orNull
    }

    static func sample(in registry: inout SchemaRegistry) -> Any { self.empty }

    static var empty: Any { Self.none as Any }
}

extension Array: CompoundSchema {
    static func schema(in registry: inout SchemaRegistry) -> ValueSchema {
        .array(of: registry.schema(of: Element.self))
    }

    static func sample(in registry: inout SchemaRegistry) -> Any {
        registry.sample(of: Element.self).value.map { Self([$0]) } ?? Self()
    }

    static var empty: Any { Self() }
}

extension ContiguousArray: CompoundSchema {
    static func schema(in registry: inout SchemaRegistry) -> ValueSchema {
        .array(of: registry.schema(of: Element.self))
    }

    static func sample(in registry: inout SchemaRegistry) -> Any {
        registry.sample(of: Element.self).value.map { Self([$0]) } ?? Self()
    }

    static var empty: Any { Self() }
}

extension Set: CompoundSchema {
    static func schema(in registry: inout SchemaRegistry) -> ValueSchema {
        .array(of: registry.schema(of: Element.self))
    }

    static func sample(in registry: inout SchemaRegistry) -> Any {
        registry.sample(of: Element.self).value.map { Self([$0]) } ?? Self()
    }

    static var empty: Any { Self() }
}

extension Dictionary: CompoundSchema {
    static func schema(in registry: inout SchemaRegistry) -> ValueSchema {
        let value = registry.schema(of: Value.self)
        // `Int` is `CodingKeyRepresentable` as well, but its keys must be numbers.
        if Key.self == Int.self {
            return ValueSchema([
                "type": "object", "additionalProperties": value.tree,
                "propertyNames": ["pattern": "^(0|-?[1-9][0-9]{0,17})$"],
            ])
        }
        if Key.self == String.self || Key.self is any CodingKeyRepresentable.Type {
            return .dictionary(of: value)
        }
        let reason = "an array of alternating keys and values"
        return ValueSchema([
            "type": "array", "description": .string(reason),
            "x-waybill-opaque": .string(TypeName.of(Self.self)),
        ])
    }

    static func sample(in registry: inout SchemaRegistry) -> Any { self.empty }

    static var empty: Any { Self() }
}

/// The values of an enumeration that lists its cases.
struct EnumerationValues {
    let schema: ValueSchema
    let first: Any?

    /// The maximum number of values, because a `CaseIterable` type may have any number of values.
    private static let limit = 1000

    /// Returns the values of a type; nil if a case has no raw value, or has a raw value that is neither text
    /// nor a whole number.
    static func all<Enumeration: CaseIterable>(of type: Enumeration.Type) -> Self? {
        guard type is any RawRepresentable.Type, type is any Decodable.Type || Self.isText(type) else {
            return nil
        }
        var values: [JSONTree] = []
        for one in type.allCases.prefix(Self.limit + 1) {
            guard let value = (one as? any RawRepresentable).flatMap({ Self.tree(ofRawValue: $0) }) else {
                return nil
            }
            values.append(value)
        }
        guard values.count <= Self.limit, let first = values.first else { return nil }
        var tree: JSONTree = ["enum": .array(values), "type": "string"]
        if case .number = first { tree["type"] = "integer" }
        return Self(schema: ValueSchema(tree), first: type.allCases.first)
    }

    /// Returns the first value of a type; nil if the type is not `CaseIterable`.
    static func first(of type: any Any.Type) -> Any? {
        func first<Enumeration: CaseIterable>(of type: Enumeration.Type) -> Any? { type.allCases.first }
        return (type as? any CaseIterable.Type).flatMap { first(of: $0) }
    }

    /// Returns the first values of a Boolean or an enumeration; empty for a type that does not list its values.
    static func prefix(_ count: Int, of type: any Any.Type) -> [Any] {
        func prefix<Enumeration: CaseIterable>(of type: Enumeration.Type) -> [Any] {
            Array(type.allCases.prefix(count))
        }
        if type == Bool.self { return [false, true] }
        return (type as? any CaseIterable.Type).map { prefix(of: $0) } ?? []
    }

    private static func isText(_ type: any Any.Type) -> Bool {
        func check<Raw: RawRepresentable>(_ type: Raw.Type) -> Bool {
            Raw.RawValue.self is any LosslessStringConvertible.Type
        }
        return (type as? any RawRepresentable.Type).map { check($0) } ?? false
    }

    static func tree<Value: RawRepresentable>(ofRawValue value: Value) -> JSONTree? {
        switch value.rawValue {
        case let text as String: .string(text)
        case let number as any FixedWidthInteger: .number("\(number)")
        default: nil
        }
    }
}
