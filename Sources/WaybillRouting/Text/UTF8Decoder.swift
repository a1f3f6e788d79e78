/// Decodes characters from valid UTF-8.
enum UTF8Decoder {
    static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xc0 == 0x80 }

    /// Returns the character at an index and its length in bytes.
    static func scalar(_ text: Span<UInt8>, index: Int, end: Int) -> (UInt32, Int) {
        let byte = text[index]
        if byte < 0x80 { return (UInt32(byte), 1) }
        var length = 1
        var value = UInt32(byte & (byte < 0xe0 ? 0x1f : byte < 0xf0 ? 0x0f : 0x07))
        while index + length < end, length < 4, self.isContinuation(text[index + length]) {
            value = value << 6 | UInt32(text[index + length] & 0x3f)
            length += 1
        }
        return (value, length)
    }
}
