/// Texts that live as long as the table, one behind the other.
struct TextPool: Sendable {
    private(set) var bytes: [UInt8] = []
    /// How many bytes belong to texts that are gone.
    private(set) var garbage = 0

    mutating func add(_ text: some Collection<UInt8>) -> TextRange {
        let start = self.bytes.count
        self.bytes.append(contentsOf: text)
        return TextRange(start..<self.bytes.count)
    }

    mutating func remove(_ text: TextRange) { self.garbage += text.range.count }

    subscript(text: TextRange) -> ArraySlice<UInt8> { self.bytes[text.range] }

    func string(_ text: TextRange) -> String { String(decoding: self[text], as: UTF8.self) }
}
