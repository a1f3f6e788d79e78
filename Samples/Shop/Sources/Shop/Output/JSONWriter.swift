/// Writes values as JSON, the keys in the order in which a type declares them.
///
/// Foundation's encoder sorts the keys or changes their order, and builds a tree for each value. This writer
/// appends bytes directly, which is faster for a million replies.
final class JSONWriter {
    /// The JSON of the value, as far as it has been written.
    var text = JSONText()

    /// Writes one value, and discards the previous text.
    func write(document value: some Encodable) throws {
        self.text.removeAll()
        try self.write(value)
    }

    func write(_ value: some Encodable) throws {
        switch value {
        case let text as String: self.text.write(text: text)
        case let truth as Bool: self.text.write(literal: "\(truth)")
        case let number as Double: self.text.write(literal: number.isFinite ? "\(number)" : "null")
        case let number as Float: self.text.write(literal: number.isFinite ? "\(number)" : "null")
        case let number as any BinaryInteger: self.text.write(literal: "\(number)")
        default:
            let (depth, start) = (self.text.depth, self.text.bytes.count)
            try value.encode(to: JSONEncoding(writer: self))
            self.text.close(to: depth)
            if self.text.bytes.count == start { self.text.write(literal: "null") }
        }
    }
}
