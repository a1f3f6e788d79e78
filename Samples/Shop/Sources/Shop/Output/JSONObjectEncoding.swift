/// The members of one object in a ``JSONWriter``.
struct JSONObjectEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
    private let writer: JSONWriter
    private let depth: Int
    var codingPath: [any CodingKey] { [] }

    init(_ writer: JSONWriter) {
        writer.text.openObject()
        self.writer = writer
        self.depth = writer.text.depth
    }

    func encodeNil(forKey key: Key) {
        self.begin(key)
        self.writer.text.write(literal: "null")
    }

    func encode(_ value: String, forKey key: Key) {
        self.begin(key)
        self.writer.text.write(text: value)
    }

    func encode(_ value: Int, forKey key: Key) {
        self.begin(key)
        self.writer.text.write(literal: String(value))
    }

    func encode(_ value: some Encodable, forKey key: Key) throws {
        self.begin(key)
        try self.writer.write(value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        self.begin(key)
        return KeyedEncodingContainer(JSONObjectEncoding<Nested>(self.writer))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        self.begin(key)
        return JSONListEncoding(self.writer)
    }

    func superEncoder() -> any Encoder {
        self.writer.text.beginMember(at: self.depth, key: "super")
        return JSONEncoding(writer: self.writer)
    }

    func superEncoder(forKey key: Key) -> any Encoder {
        self.begin(key)
        return JSONEncoding(writer: self.writer)
    }

    private func begin(_ key: Key) { self.writer.text.beginMember(at: self.depth, key: key.stringValue) }
}
