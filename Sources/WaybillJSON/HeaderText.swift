/// Text in a header, as the HTTP binding of CloudEvents has it.
enum HeaderText {
    /// The text with what is not printable ASCII, a space, `"` and `%` percent-encoded.
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

    /// The text of a header.
    ///
    /// A value in quotation marks is taken out of them first, and a `%` without two digits stands for itself,
    /// since there are senders that encode nothing.
    ///
    /// - Returns: nil if what is encoded is no UTF-8, overlong forms among it.
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
