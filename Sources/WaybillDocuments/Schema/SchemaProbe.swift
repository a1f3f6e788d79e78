internal import WaybillRouting

/// A decoder without data, which records the values that a type decodes.
///
/// The probe returns a value for each request, so that the type's `init(from:)` runs to its end. The value is
/// a literal, or a value that its type has decoded with another probe. If a type's value cannot be created,
/// the types that contain this type are known only up to that property.
///
/// More probes with other answers then check whether the type reads something else for other values. If it
/// does, the type is opaque. Schemas do not describe conditions on values.
final class SchemaProbe {
    /// The schemas of all decoded types, which remain after the probe is released.
    fileprivate var registry: SchemaRegistry
    fileprivate var shape = Shape.nothing
    /// The reason why the type is opaque; nil if the type is not opaque.
    fileprivate var obstacle: String?
    /// Whether the obstacle is that the recorded shape describes only some of the values.
    private var isVarying = false
    private let answers: Answers
    /// Whether the request that the answers refuse has been refused.
    private var hasRefused = false
    /// Whether the type has made another request after the refused one, at the same path.
    fileprivate private(set) var isAlternative = false
    /// The largest number of values between which a type of the requests can choose.
    private var variants = 1

    /// The form in which a type decodes itself.
    fileprivate enum Shape {
        case nothing
        case object(ObjectShape)
        case value(ValueSchema)

        var schema: ValueSchema? {
            switch self {
            case .nothing: nil
            case .object(let object): object.schema
            case .value(let schema): schema
            }
        }

        var paths: Set<[String]> { Set(self.members.map { $0.object.path + [$0.key] }) }

        var members: [(object: ObjectShape, key: String)] {
            if case .object(let object) = self { object.members } else { [] }
        }
    }

    /// The answers of a probe, which are the same for two runs only if these properties are the same.
    private struct Answers {
        /// Whether the probe returns the number 0, empty texts and empty collections.
        var isEmpty = false
        /// The index of the case that enumerations have; an odd index also makes Boolean values true.
        var variant = 0
        /// The path whose first request fails, as if there were a value of another type; nil for no path.
        var refused: [String]?
    }

    /// The maximum number of cases of an enumeration with which a type is probed.
    private static let maximumVariants = 32

    private init(_ registry: SchemaRegistry, _ answers: Answers) {
        self.registry = registry
        self.answers = answers
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
            let probe = SchemaProbe(registry, Answers(isEmpty: isEmpty))
            // The types of an opaque type are not part of the document.
            defer { if !probe.isVarying { registry = probe.registry } }
            do {
                let sample: Any = try type.init(from: ProbingDecoder(probe: probe, place: nil))
                probe.findAlternatives(of: type)
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

    /// Probes a type again with other answers, and notes where the type then requests something else.
    private func findAlternatives(of type: any Decodable.Type) {
        if self.isVarying { return }
        for index in 1..<self.variants {
            var answers = self.answers
            answers.variant = index
            let (other, isDecoded) = self.run(type, answers)
            // A type that rejects a value describes itself with the other values.
            let isSame =
                isDecoded && other.obstacle == nil
                ? other.shape.schema == self.shape.schema : other.shape.paths.isSubset(of: self.shape.paths)
            if !isSame { return self.vary("its init(from:) reads different members for different values") }
        }
        if self.hasAlternative(of: type, at: []) { return self.vary(Self.triesTypes) }
        for (object, key) in self.shape.members where self.hasAlternative(of: type, at: object.path + [key]) {
            object.varying.insert(key)
        }
    }

    /// Returns whether a type makes another request at a path when the first request fails.
    private func hasAlternative(of type: any Decodable.Type, at path: [String]) -> Bool {
        var answers = self.answers
        answers.refused = path
        return self.run(type, answers).probe.isAlternative
    }

    private func run(
        _ type: any Decodable.Type,
        _ answers: Answers
    ) -> (probe: SchemaProbe, isDecoded: Bool) {
        let probe = SchemaProbe(self.registry, answers)
        let value: Any? = try? type.init(from: ProbingDecoder(probe: probe, place: nil))
        return (probe, value != nil)
    }

    /// Notes that the recorded shape describes only some of the type's values.
    fileprivate func vary(_ reason: String) {
        self.obstacle = reason
        self.isVarying = true
    }

    fileprivate static let triesTypes = "its init(from:) tries one type after another"

    /// Begins a request at a path; throws if the answers refuse this request.
    fileprivate func request(_ path: [String]) throws {
        guard path == self.answers.refused else { return }
        self.isAlternative = self.hasRefused
        if self.hasRefused { return }
        self.hasRefused = true
        throw ProbeError.refused
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
        if self.isVarying {
            return Finding(schema: .opaque(TypeName.of(type), reason), isNamed: true)
        }
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
        let choices = EnumerationValues.prefix(Self.maximumVariants, of: type)
        self.variants = max(self.variants, choices.count)
        if self.answers.variant > 0, !choices.isEmpty,
            let choice = choices[self.answers.variant % choices.count] as? Value
        {
            return (schema, choice)
        }
        if self.answers.isEmpty, let empty = EmptyValue.of(type) as? Value { return (schema, empty) }
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
    case refused
}

/// The properties that a type decodes, in an object that a decoder and its containers share.
private final class ObjectShape {
    /// The keys that lead to this object; empty for the object of the type itself.
    let path: [String]
    var properties: [String: ValueSchema] = [:]
    var optional: Set<String> = []
    var nullable: Set<String> = []
    var nested: [String: ObjectShape] = [:]
    /// The members that have values of several types.
    var varying: Set<String> = []

    init(path: [String] = []) { self.path = path }

    /// The members of this object and of the objects in it, in a fixed order.
    var members: [(object: ObjectShape, key: String)] {
        Set(self.properties.keys).union(self.nested.keys).sorted().flatMap { key in
            [(self, key)] + (self.nested[key]?.members ?? [])
        }
    }

    /// Records the schema of a member.
    func record(_ key: String, _ schema: ValueSchema) {
        if let earlier = self.properties[key], earlier.orNull != schema.orNull { self.varying.insert(key) }
        self.properties[key] = schema
    }

    /// Returns the object of a member, which several containers may decode.
    func object(at key: String) -> ObjectShape {
        let object = self.nested[key] ?? ObjectShape(path: self.path + [key])
        self.nested[key] = object
        return object
    }

    var schema: ValueSchema {
        var properties = self.properties.mapValues(\.tree)
        for name in self.nullable { properties[name] = self.properties[name]?.orNull.tree }
        for (name, object) in self.nested { properties[name] = object.schema.tree }
        for name in self.varying.union(Set(self.properties.keys).intersection(self.nested.keys)) {
            properties[name] = ValueSchema.opaque("`\(name)`", SchemaProbe.triesTypes).tree
        }
        let required = properties.keys.filter { !self.optional.contains($0) }.sorted()
        var tree: JSONTree = ["type": "object", "properties": .object(properties)]
        if !required.isEmpty { tree["required"] = .strings(required) }
        return ValueSchema(tree)
    }
}

private struct ProbingDecoder: Decoder {
    let probe: SchemaProbe
    /// The member to decode; nil to decode the whole value of the type.
    let place: (object: ObjectShape, key: String)?
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    private func request() throws {
        try self.probe.request(self.place.map { $0.object.path + [$0.key] } ?? [])
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if let place {
            try self.request()
            let object = place.object.object(at: place.key)
            return KeyedDecodingContainer(ProbingObject(probe: self.probe, object: object))
        }
        let object: ObjectShape
        if case .object(let same) = self.probe.shape {
            object = same
        } else {
            try self.request()
            object = ObjectShape()
            if case .value = self.probe.shape { self.probe.vary(SchemaProbe.triesTypes) }
        }
        self.probe.shape = .object(object)
        return KeyedDecodingContainer(ProbingObject(probe: self.probe, object: object))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try self.request()
        let array = ValueSchema(["type": "array"])
        if let place {
            place.object.record(place.key, array)
            self.probe.obstacle = "`\(place.key)` is an array that its init(from:) reads one by one"
        } else {
            self.probe.shape = .value(array)
            self.probe.obstacle = "an array of elements that its init(from:) reads one by one"
        }
        throw ProbeError.notSupported
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        ProbingValue(probe: self.probe, place: self.place)
    }
}

/// Records the properties that are decoded from an object.
private struct ProbingObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: SchemaProbe
    let object: ObjectShape
    let codingPath: [any CodingKey] = []

    /// The first key, with which an enumeration with associated values can create a value; empty if `Key`
    /// does not list its keys.
    var allKeys: [Key] {
        self.probe.vary("its init(from:) reads different members for different keys")
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
        try self.probe.request(self.object.path + [key.stringValue])
        self.object.record(key.stringValue, self.probe.registry.schema(of: type))
        return try self.probe.value(type).value
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        try self.probe.request(self.object.path + [key.stringValue])
        self.object.record(key.stringValue, self.probe.registry.schema(of: type).orNull)
        self.object.optional.insert(key.stringValue)
        return nil
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try self.nestedDecoder(key.stringValue).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try self.nestedDecoder(key.stringValue).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { self.nestedDecoder("super") }

    func superDecoder(forKey key: Key) -> any Decoder { self.nestedDecoder(key.stringValue) }

    private func nestedDecoder(_ name: String) -> ProbingDecoder {
        ProbingDecoder(probe: self.probe, place: (self.object, name))
    }
}

/// Records the type that is decoded from a single value.
private struct ProbingValue: SingleValueDecodingContainer {
    let probe: SchemaProbe
    let place: (object: ObjectShape, key: String)?
    let codingPath: [any CodingKey] = []

    func decodeNil() -> Bool {
        if let place {
            place.object.nullable.insert(place.key)
        } else {
            self.probe.vary("its init(from:) accepts null or another value")
        }
        return false
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let schema = self.probe.registry.schema(of: type)
        if let place {
            try self.probe.request(place.object.path + [place.key])
            place.object.record(place.key, schema)
        } else {
            try self.probe.request([])
            if let earlier = self.probe.shape.schema, earlier != schema {
                self.probe.vary(SchemaProbe.triesTypes)
            }
            self.probe.shape = .value(schema)
        }
        return try self.probe.value(type).value
    }
}
