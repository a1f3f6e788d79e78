/// Escapes text from outside for one line of a log, an error message or a terminal.
///
/// ```swift
/// logger.info("not found", metadata: ["url": "\(SafeText.line(url, limit: SafeText.limit))"])
/// ```
///
/// URLs and their values come from outside. A line break would forge a log line, an escape sequence would
/// control the terminal, and a bidirectional control would reorder the rest of the line. Waybill therefore
/// passes every text that it logs or puts into an error message through this type.
public enum SafeText {
    /// The maximum length of outside text that is quoted within a sentence: 200 characters.
    public static let limit = 200

    /// Returns the text on one line, with the characters escaped that break a line or control a terminal.
    ///
    /// The escapes have the forms `\n`, `\u{1B}` and `\u{202E}`. Escaped are control characters, line and
    /// paragraph separators, and the marks, embeddings, overrides and isolates of bidirectional text. A text
    /// that is already escaped does not change.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - limit: The maximum number of characters (Unicode scalars); a longer text ends with `…` and its
    ///     length in bytes.
    /// - Returns: The text on one line.
    public static func line(_ text: some StringProtocol, limit: Int = .max) -> String {
        // A text has no more scalars than bytes, so most texts need not be counted.
        let end =
            text.utf8.count <= limit
            ? nil
            : text.unicodeScalars.index(text.startIndex, offsetBy: max(0, limit), limitedBy: text.endIndex)
        guard let end, end < text.endIndex else { return Self.escaped(text) }
        return "\(Self.escaped(text[..<end]))… (\(Self.grouped(text.utf8.count)) bytes)"
    }

    private static func escaped(_ text: some StringProtocol) -> String {
        guard Self.mayNeedEscapes(text.utf8) else { return String(text) }
        return text.unicodeScalars.reduce(into: "") { line, scalar in
            if Self.isUnsafe(scalar) {
                line += scalar.escaped(asASCII: true)
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
    }

    /// Returns whether the text may contain a character to escape.
    ///
    /// The test of bytes is cheap, and false for nearly all texts.
    private static func mayNeedEscapes(_ bytes: some Sequence<UInt8>) -> Bool {
        // Byte 0xc2 begins U+0080 to U+00BF, byte 0xd8 begins U+061C, and byte 0xe2 begins all other
        // characters to escape.
        bytes.contains { $0 < 0x20 || $0 == 0x7f || $0 == 0xc2 || $0 == 0xd8 || $0 == 0xe2 }
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0: true
        case 0x061c, 0x200e, 0x200f: true
        case 0x2028...0x202e: true
        case 0x2066...0x2069: true
        default: false
        }
    }

    /// Returns a number with digit groups: `8,000`.
    private static func grouped(_ number: Int) -> String {
        let digits = Array(String(number))
        return digits.indices.reduce(into: "") { text, index in
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digits[index])
        }
    }
}

extension String {
    /// The whole text on one line.
    package var onOneLine: String { SafeText.line(self) }

    /// The text on one line, cut at ``SafeText/limit``.
    package var onShortLine: String { SafeText.line(self, limit: SafeText.limit) }
}
