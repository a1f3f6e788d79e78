/// Escapes text from outside the program for one line of a log, an error message or a terminal.
///
/// ```swift
/// logger.info("not found", metadata: ["url": "\(SafeText.line(url, limit: SafeText.limit))"])
/// ```
///
/// URLs and their values come from outside the program. A line break would forge a log line, an escape
/// sequence would control the terminal, and a bidirectional control character would reorder the characters
/// after it. Waybill therefore passes every text that it logs or puts into an error message through this
/// type.
public enum SafeText {
    /// The maximum length of a text from outside that is quoted within a sentence: 200 characters.
    public static let limit = 200

    /// Returns the text on one line.
    ///
    /// Characters that break a line or control a terminal are escaped.
    ///
    /// The escapes have the forms `\n`, `\u{1B}` and `\u{202E}`. The method escapes control characters, line
    /// and paragraph separators, and the marks, embeddings, overrides and isolates of bidirectional text. A
    /// text that is already escaped does not change.
    ///
    /// - Parameters:
    ///   - text: Any text.
    ///   - limit: The maximum number of characters (Unicode scalars). A longer text is shortened. It then
    ///     ends with `…` and its length in bytes.
    /// - Returns: The text on one line.
    public static func line(_ text: some StringProtocol, limit: Int = .max) -> String {
        // A text has no more scalars than bytes, so the scalars of most texts need not be counted.
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

    /// Returns whether the text possibly contains a character that must be escaped.
    ///
    /// This test of bytes is cheap, and its result is false for nearly all texts.
    private static func mayNeedEscapes(_ bytes: some Sequence<UInt8>) -> Bool {
        // Byte 0xc2 begins U+0080 to U+00BF, byte 0xd8 begins U+061C, and byte 0xe2 begins all other
        // characters that must be escaped.
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

    /// The text on one line, shortened to ``SafeText/limit`` characters.
    package var onShortLine: String { SafeText.line(self, limit: SafeText.limit) }

    /// The text on one line, in which the characters with a meaning in Mermaid diagrams are escaped.
    package var escapedForMermaid: String {
        self.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "#", ";", "<", ">", "\"", "&": result += "#\(scalar.value);"
            case "\n", "\r", "\t": result += " "
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Character {
    /// Whether the character is a line feed, or a carriage return and a line feed.
    ///
    /// `isNewline` is also true for characters such as U+2028, at which editors do not begin a new line.
    package var isLineBreak: Bool { self == "\n" || self == "\r\n" }
}
