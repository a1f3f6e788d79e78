/// The encoding of text in headers, as the HTTP binding of CloudEvents defines it.
enum HeaderText {
    /// Returns a text with `"`, `%`, spaces and all bytes that are not printable ASCII percent-encoded.
    static func encoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if (0x21...0x7E).contains(byte), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "%") {
                bytes.append(byte)
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                bytes += (digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)").utf8
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes the text of a header.
    ///
    /// Quotation marks around a value are removed first. A `%` without two hexadecimal digits is not changed,
    /// because some senders do not encode values.
    ///
    /// - Returns: The text, or nil if the decoded bytes are not UTF-8. Overlong encodings are not UTF-8.
    static func decoded(_ value: String) -> String? {
        let bytes = self.unquoted(Array(value.utf8))
        var text: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = Character(Unicode.Scalar(bytes[index + 1])).hexDigitValue,
                let low = Character(Unicode.Scalar(bytes[index + 2])).hexDigitValue
            {
                text.append(UInt8(high << 4 | low))
                index += 3
            } else {
                text.append(bytes[index])
                index += 1
            }
        }
        return String(validating: text, as: UTF8.self)
    }

    private static func unquoted(_ bytes: [UInt8]) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return bytes }
        var content: [UInt8] = []
        var isEscaped = false
        for byte in bytes.dropFirst().dropLast() {
            if byte == UInt8(ascii: "\\"), !isEscaped {
                isEscaped = true
            } else {
                content.append(byte)
                isEscaped = false
            }
        }
        return content
    }
}
