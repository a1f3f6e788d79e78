extension String {
    /// The text without what would break a line or speak to a terminal, as a stranger may have put it into a URL.
    package var onOneLine: String {
        guard self.unicodeScalars.contains(where: Self.isControl) else { return self }
        return self.unicodeScalars.reduce(into: "") { line, scalar in
            if Self.isControl(scalar) {
                line += scalar.escaped(asASCII: true)
            } else {
                line.unicodeScalars.append(scalar)
            }
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
