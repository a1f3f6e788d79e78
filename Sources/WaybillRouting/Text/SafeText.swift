/// Text from outside, made fit for one line of a log, an error sentence or a terminal.
///
/// ```swift
/// logger.info("not found", metadata: ["url": "\(SafeText.line(url, limit: SafeText.limit))"])
/// ```
///
/// A URL comes from outside, and so may what it carries: a line break would forge a line of a log, an escape
/// sequence would speak to the terminal, and a bidirectional control would show the rest of the line in
/// another order. Waybill passes everything through here that it logs, or puts into the sentence of an error.
public enum SafeText {
    /// How much of a text from outside is shown where it stands beside other words: 200 characters.
    public static let limit = 200

    /// The text with each character escaped that would break a line or command a terminal: `\n`, `\u{1B}`,
    /// `\u{202E}`.
    ///
    /// Those are control characters, line and paragraph separators, and the marks, embeddings, overrides and
    /// isolates of bidirectional text. What is escaped already stays as it is.
    ///
    /// - Parameters:
    ///   - text: any text.
    ///   - limit: how many characters (Unicode scalars) of it to show at most; a text that is longer ends
    ///     with `…` and says how many bytes it has.
    /// - Returns: the text in one line.
    public static func line(_ text: some StringProtocol, limit: Int = .max) -> String {
        // No text has more scalars than bytes, so most texts need not be counted.
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

    /// Whether a byte stands in the text that a character to escape has: false for nearly all texts, and
    /// cheap.
    private static func mayNeedEscapes(_ bytes: some Sequence<UInt8>) -> Bool {
        // 0xc2 begins U+0080 to U+00BF, 0xd8 U+061C, and 0xe2 all other characters in question.
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

    /// A number as a person reads it: `8,000`.
    private static func grouped(_ number: Int) -> String {
        let digits = Array(String(number))
        return digits.indices.reduce(into: "") { text, index in
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digits[index])
        }
    }
}

extension String {
    /// The text in one line, whole.
    package var onOneLine: String { SafeText.line(self) }

    /// The text in one line, and no longer than text from outside may be.
    package var onShortLine: String { SafeText.line(self, limit: SafeText.limit) }
}
