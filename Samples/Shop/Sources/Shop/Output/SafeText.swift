/// Text of a stranger, made fit for one line of a terminal.
enum SafeText {
    /// The text with control characters, and those that turn the direction of writing, spelled out.
    static func escape(_ text: some StringProtocol) -> String {
        guard text.unicodeScalars.contains(where: Self.isUnsafe) else { return String(text) }
        var safe = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": safe += "\\n"
            case "\r": safe += "\\r"
            case "\t": safe += "\\t"
            case _ where Self.isUnsafe(scalar): safe += "\\u{\(String(scalar.value, radix: 16))}"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }

    /// The text, escaped, and cut in the middle if it is long.
    static func clip(_ text: String, to limit: Int) -> String {
        let scalars = text.unicodeScalars
        guard text.utf8.count > limit, scalars.count > limit else { return Self.escape(text) }
        let (head, tail) = (scalars.prefix(limit * 2 / 3), scalars.suffix(limit / 3))
        return "\(Self.escape(String(head))) ... \(Self.escape(String(tail))) (\(text.utf8.count) bytes)"
    }

    private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x20 { return true }
        if scalar.value < 0x7f { return false }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: return true
        default: return (0x202a...0x202e).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
        }
    }
}
