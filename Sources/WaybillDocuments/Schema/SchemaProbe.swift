internal import WaybillRouting

/// A decoder without input that records the values for which a type asks.
///
/// The probe answers each request with a value of the requested type, so that `init(from:)` of the type
/// completes. A value is a literal or was created by its own type. If a type creates no value, the types that
/// contain it are known up to that property. Types whose decoding depends on values are opaque, and so are
/// enumerations with associated values.
final class SchemaProbe {
    /// The schemas of the types that are asked for; they outlive the probe.
    fileprivate var registry: SchemaRegistry
    fileprivate var shape = Shape.nothing
    /// The reason why the type is opaque, or nil.
    fileprivate var obstacle: String?
    /// Whether texts and collections are empty, and numbers 0.
    private let isEmpty: Bool

    /// The container for which a type has asked.
    fileprivate enum Shape {
        case nothing
        case object(ObjectShape)
        case value(ValueSchema)
    }

    private init(_ registry: SchemaRegistry, isEmpty: Bool) {
        self.registry = registry
        self.isEmpty = isEmpty
    }

    /// The result for a type.
    struct Finding {
        let schema: ValueSchema
        /// Whether the schema should have a name.
        let isNamed: Bool
    }

    /// Has a type decode itself.
    ///
    /// - Returns: Its schema, and a value if one could be made.
    static func look(into type: any Decodable.Type, _ registry: inout SchemaRegistry) -> (Finding, Any?) {
        var finding: Finding?
        // A type may refuse the first answers because it checks its values. Empty ones come last, since some
        // types trap on them, and do so in a value of a peer as well.
        for isEmpty in [false, true] {
            let probe = SchemaProbe(registry, isEmpty: isEmpty)
            defer { registry = probe.registry }
            do {
                let sample: Any = try type.init(from: ProbingDecoder(probe: probe, object: nil))
                return (probe.finding(type, nil), sample)
            } catch {
                finding = finding ?? probe.finding(type, "its init(from:) refuses the values that were tried")
            }
        }
        if let raw = (type as? any RawRepresentable.Type).flatMap({ Self.raw($0, &registry) }) { return raw }
        return (finding ?? Finding(schema: .opaque(TypeName.of(type), "unknown"), isNamed: false), nil)
    }

    /// An enumeration with raw values that does not list its cases.
    private static func raw<Raw: RawRepresentable>(
        _ type: Raw.Type,
        _ registry: inout SchemaRegistry
    ) -> (Finding, Any?)? {
        var tree = registry.schema(of: Raw.RawValue.self).tree
        guard case .string(let kind) = tree["type"], kind == "string" || kind == "integer" else { return nil }
        let name = TypeName.of(type)
        tree["x-waybill-opaque"] = .string(name)
        tree["description"] = .string("\(name): its cases are known if it is CaseIterable")
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

    /// A value of a type that was asked for.
    ///
    /// - Throws: An error if none can be made.
    fileprivate func value<Value: Decodable>(_ type: Value.Type) throws -> (schema: ValueSchema, value: Value)
    {
        let (schema, sample) = self.registry.sample(of: type)
        if self.isEmpty, let empty = EmptyValue.of(type) as? Value { return (schema, empty) }
        guard let sample else {
            let name = TypeName.of(type)
            self.obstacle =
                "later properties are not known, since no \(name) can be made; make \(name) CaseIterable"
            throw ProbeError.noSample(name)
        }
        return (schema, sample)
    }
}

/// Why a type could not be looked into to its end.
private enum ProbeError: Error {
    case noSample(String)
    case notSupported
}

/// The properties that a type asks for; nested containers share it with the decoder that they are made of.
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
    /// The nested object that is decoded, or nil for the object of the type itself.
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

/// Notes the properties that are read from an object.
private struct ProbingObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: SchemaProbe
    let object: ObjectShape
    let codingPath: [any CodingKey] = []

    /// The first key, so that an enumeration with values can be made; nothing if `Key` does not list its
    /// keys.
    var allKeys: [Key] {
        self.probe.obstacle = "which members it reads depends on those that there are"
        return (EnumerationValues.first(of: Key.self) as? Key).map { [$0] } ?? []
    }

    func contains(_ key: Key) -> Bool {
        self.object.optional.insert(key.stringValue)
        return true
    }

    // An Optional of the standard library's types comes by here, and not by `decodeIfPresent` below.
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

/// Notes what a type that is one value is made of.
private struct ProbingValue: SingleValueDecodingContainer {
    let probe: SchemaProbe
    let codingPath: [any CodingKey] = []

    func decodeNil() -> Bool {
        self.probe.obstacle = "it may be null, or something else"
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
