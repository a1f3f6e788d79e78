/// An encoder for one value of a ``JSONWriter``.
///
/// A container closes the open brackets below it before it continues, so brackets need no explicit end.
struct JSONEncoding: Encoder {
    let writer: JSONWriter
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(JSONObjectEncoding(self.writer))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { JSONListEncoding(self.writer) }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension JSONEncoding: SingleValueEncodingContainer {
    func encodeNil() { self.writer.text.write(literal: "null") }

    func encode(_ value: String) { self.writer.text.write(text: value) }

    func encode(_ value: Int) { self.writer.text.write(literal: String(value)) }

    func encode(_ value: some Encodable) throws { try self.writer.write(value) }
}
