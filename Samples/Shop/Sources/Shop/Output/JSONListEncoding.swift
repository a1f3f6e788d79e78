/// The elements of one list in a ``JSONWriter``.
struct JSONListEncoding: UnkeyedEncodingContainer {
    private let writer: JSONWriter
    private let depth: Int
    private(set) var count = 0
    var codingPath: [any CodingKey] { [] }

    init(_ writer: JSONWriter) {
        writer.text.openList()
        self.writer = writer
        self.depth = writer.text.depth
    }

    mutating func encodeNil() {
        self.begin()
        self.writer.text.write(literal: "null")
    }

    mutating func encode(_ value: some Encodable) throws {
        self.begin()
        try self.writer.write(value)
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) -> KeyedEncodingContainer<Nested> {
        self.begin()
        return KeyedEncodingContainer(JSONObjectEncoding<Nested>(self.writer))
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        self.begin()
        return JSONListEncoding(self.writer)
    }

    mutating func superEncoder() -> any Encoder {
        self.begin()
        return JSONEncoding(writer: self.writer)
    }

    private mutating func begin() {
        self.writer.text.beginElement(at: self.depth)
        self.count += 1
    }
}
