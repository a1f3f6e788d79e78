extension String {
    /// The text with its line breaks and control characters written out, so that what a stranger put into a URL cannot
    /// begin a line of a log.
    package var onOneLine: String {
        guard self.unicodeScalars.contains(where: Self.breaksLine) else { return self }
        var text = ""
        for scalar in self.unicodeScalars {
            if Self.breaksLine(scalar) {
                text += scalar.escaped(asASCII: true)
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029: true
        default: false
        }
    }
}
