/// The place of one value in a ``JSONWriter``, as `Encodable` types want to see it.
///
/// A container closes what is open below it before it goes on, so brackets need no end of their own.
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
