/// Records the properties of a value, unchanged, by the names of their coding keys.
///
/// The type encodes nothing. The type drops values that are not members of one object. Parameters have no
/// members, so `ParameterDecoder` rejects types that have such values.
final class PropertyRecorder: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    fileprivate(set) var values: [String: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Members(recorder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { Dropped() }

    func singleValueContainer() -> any SingleValueEncodingContainer { Dropped() }
}

/// The keyed container, which records each property by name.
private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let recorder: PropertyRecorder
    let codingPath: [any CodingKey] = []

    func encodeNil(forKey key: Key) {}

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) {
        self.recorder.values[key.stringValue] = value
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { PropertyRecorder().container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { Dropped() }

    func superEncoder() -> any Encoder { self.recorder }

    func superEncoder(forKey key: Key) -> any Encoder { PropertyRecorder() }
}

/// A container that drops values without names.
private struct Dropped: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    let codingPath: [any CodingKey] = []
    private(set) var count = 0

    mutating func encodeNil() { self.count += 1 }

    mutating func encode<Value: Encodable>(_ value: Value) { self.count += 1 }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        self.count += 1
        return PropertyRecorder().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        self.count += 1
        return Dropped()
    }

    mutating func superEncoder() -> any Encoder {
        self.count += 1
        return PropertyRecorder()
    }
}
