internal import WaybillRouting

/// A decoder without data, which records the values that a type decodes.
///
/// The probe returns a value for each request, so that the type's `init(from:)` runs to its end. The value is
/// a literal, or a value that its type has decoded with another probe. If a type's value cannot be created,
/// the types that contain this type are known only up to that property. Schemas do not describe conditions on
/// values, and enumerations with associated values are opaque.
final class SchemaProbe {
    /// The schemas of all decoded types, which remain after the probe is released.
    fileprivate var registry: SchemaRegistry
    fileprivate var shape = Shape.nothing
    /// The reason why the type is opaque; nil if the type is not opaque.
    fileprivate var obstacle: String?
    /// Whether the probe returns the number 0, empty texts and empty collections.
    private let isEmpty: Bool

    /// The form in which a type decodes itself.
    fileprivate enum Shape {
        case nothing
        case object(ObjectShape)
        case value(ValueSchema)
    }

    private init(_ registry: SchemaRegistry, isEmpty: Bool) {
        self.registry = registry
        self.isEmpty = isEmpty
    }

    /// The schema that the probe has found for a type.
    struct Finding {
        let schema: ValueSchema
        /// Whether the schema is stored under a name, so that other schemas refer to it.
        let isNamed: Bool
    }

    /// Makes a type decode itself, and returns its schema and a value; nil if no value could be created.
    static func look(into type: any Decodable.Type, _ registry: inout SchemaRegistry) -> (Finding, Any?) {
        var finding: Finding?
        // A type may check values and reject the values of the first attempt. The second attempt uses empty
        // values. Empty values are not used first, because some types trap on them. These types would also
        // trap on empty values from a client.
        for isEmpty in [false, true] {
            let probe = SchemaProbe(registry, isEmpty: isEmpty)
            defer { registry = probe.registry }
            do {
                let sample: Any = try type.init(from: ProbingDecoder(probe: probe, object: nil))
                return (probe.finding(type, nil), sample)
            } catch {
                finding =
                    finding
                    ?? probe.finding(type, "its init(from:) rejected all values that the schema probe tried")
            }
        }
        if let raw = (type as? any RawRepresentable.Type).flatMap({ Self.raw($0, &registry) }) { return raw }
        return (finding ?? Finding(schema: .opaque(TypeName.of(type), "unknown"), isNamed: false), nil)
    }

    /// Returns the schema of an enumeration with raw values that is not `CaseIterable`; nil if the raw values
    /// are neither texts nor whole numbers.
    private static func raw<Raw: RawRepresentable>(
        _ type: Raw.Type,
        _ registry: inout SchemaRegistry
    ) -> (Finding, Any?)? {
        var tree = registry.schema(of: Raw.RawValue.self).tree
        guard case .string(let kind) = tree["type"], kind == "string" || kind == "integer" else { return nil }
        let name = TypeName.of(type)
        tree["x-waybill-opaque"] = .string(name)
        tree["description"] = .string("\(name): make the type CaseIterable, so that its cases are known")
        return (Finding(schema: ValueSchema(tree), isNamed: true), nil)
    }

    private func finding(_ type: any Any.Type, _ failure: String?) -> Finding {
        let reason = self.obstacle ?? failure
        var finding: Finding
        switch self.shape {
        case .nothing:
            let empty = ValueSchema(["type": "object"])
            finding = Finding(schema: reason == nil ? empty : .opaque(TypeName.of(type), ""), isNamed: true)
        case .object(let object): finding = Finding(schema: object.schema, isNamed: true)
        case .value(let schema): finding = Finding(schema: schema, isNamed: false)
        }
        guard let reason else { return finding }
        var tree = finding.schema.tree
        if tree["$ref"] != nil { tree = ["anyOf": [tree, [:]]] }
        tree["x-waybill-opaque"] = .string(TypeName.of(type))
        tree["description"] = .string("\(TypeName.of(type)): \(reason)")
        finding = Finding(schema: ValueSchema(tree), isNamed: true)
        return finding
    }

    /// Returns a value of a type, and the schema of the type.
    fileprivate func value<Value: Decodable>(_ type: Value.Type) throws -> (schema: ValueSchema, value: Value)
    {
        let (schema, sample) = self.registry.sample(of: type)
        if self.isEmpty, let empty = EmptyValue.of(type) as? Value { return (schema, empty) }
        guard let sample else {
            let name = TypeName.of(type)
            self.obstacle =
                "the properties after it are unknown, because the schema probe cannot create a \(name): make \(name) CaseIterable"
            throw ProbeError.noSample(name)
        }
        return (schema, sample)
    }
}

/// The reason why an `init(from:)` could not run to its end.
private enum ProbeError: Error {
    case noSample(String)
    case notSupported
}

/// The properties that a type decodes, in an object that a decoder and its containers share.
private final class ObjectShape {
    var properties: [String: ValueSchema] = [:]
    var optional: Set<String> = []
    var nullable: Set<String> = []
    var nested: [String: ObjectShape] = [:]

    var schema: ValueSchema {
        var properties = self.properties.mapValues(\.tree)
        for name in self.nullable { properties[name] = self.properties[name]?.orNull.tree }
        for (name, object) in self.nested { properties[name] = object.schema.tree }
        let required = properties.keys.filter { !self.optional.contains($0) }.sorted()
        var tree: JSONTree = ["type": "object", "properties": .object(properties)]
        if !required.isEmpty { tree["required"] = .strings(required) }
        return ValueSchema(tree)
    }
}

private struct ProbingDecoder: Decoder {
    let probe: SchemaProbe
    /// The nested object to decode; nil to decode the object of the type itself.
    let object: ObjectShape?
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        if let object { return KeyedDecodingContainer(ProbingObject(probe: self.probe, object: object)) }
        let object: ObjectShape
        if case .object(let same) = self.probe.shape { object = same } else { object = ObjectShape() }
        self.probe.shape = .object(object)
        return KeyedDecodingContainer(ProbingObject(probe: self.probe, object: object))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        self.probe.shape = .value(ValueSchema(["type": "array"]))
        self.probe.obstacle = "an array of elements that its init(from:) reads one by one"
        throw ProbeError.notSupported
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { ProbingValue(probe: self.probe) }
}

/// Records the properties that are decoded from an object.
private struct ProbingObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: SchemaProbe
    let object: ObjectShape
    let codingPath: [any CodingKey] = []

    /// The first key, with which an enumeration with associated values can create a value; empty if `Key`
    /// does not list its keys.
    var allKeys: [Key] {
        self.probe.obstacle = "its init(from:) reads different members for different keys"
        return (EnumerationValues.first(of: Key.self) as? Key).map { [$0] } ?? []
    }

    func contains(_ key: Key) -> Bool {
        self.object.optional.insert(key.stringValue)
        return true
    }

    // For an optional of a standard library type, `init(from:)` calls this method and not `decodeIfPresent`.
    func decodeNil(forKey key: Key) -> Bool {
        self.object.optional.insert(key.stringValue)
        self.object.nullable.insert(key.stringValue)
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        self.object.properties[key.stringValue] = self.probe.registry.schema(of: type)
        return try self.probe.value(type).value
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        self.object.properties[key.stringValue] = self.probe.registry.schema(of: type).orNull
        self.object.optional.insert(key.stringValue)
        return nil
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        let object = self.object.nested[key.stringValue] ?? ObjectShape()
        self.object.nested[key.stringValue] = object
        return KeyedDecodingContainer(ProbingObject<Nested>(probe: self.probe, object: object))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        self.object.properties[key.stringValue] = ValueSchema(["type": "array"])
        self.probe.obstacle = "`\(key.stringValue)` is an array that its init(from:) reads one by one"
        throw ProbeError.notSupported
    }

    func superDecoder() throws -> any Decoder { try self.nestedDecoder("super") }

    func superDecoder(forKey key: Key) throws -> any Decoder { try self.nestedDecoder(key.stringValue) }

    private func nestedDecoder(_ name: String) throws -> any Decoder {
        let object = self.object.nested[name] ?? ObjectShape()
        self.object.nested[name] = object
        return ProbingDecoder(probe: self.probe, object: object)
    }
}

/// Records the type that is decoded from a single value.
private struct ProbingValue: SingleValueDecodingContainer {
    let probe: SchemaProbe
    let codingPath: [any CodingKey] = []

    func decodeNil() -> Bool {
        self.probe.obstacle = "its init(from:) accepts null or another value"
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if case .value = self.probe.shape {
            self.probe.obstacle = "its init(from:) tries one type after another"
        }
        self.probe.shape = .value(self.probe.registry.schema(of: type))
        return try self.probe.value(type).value
    }
}
