/// A writer of a client in one language.
protocol ClientWriter {
    var code: CodeWriter { get set }
}

extension ClientWriter {
    /// Writes lines that are indented by one level more.
    mutating func inBlock(_ body: (inout Self) -> Void) {
        self.code.indent()
        body(&self)
        self.code.outdent()
    }

    /// Returns the lines of a comment, without empty lines at its ends.
    ///
    /// - Parameters:
    ///   - text: The documentation of a declaration.
    ///   - more: Lines that follow the text, after an empty line.
    ///   - escape: Returns a line of the text without characters that end a comment of the language.
    /// - Returns: The lines.
    static func documentation(
        _ text: String,
        more: [String],
        _ escape: (String) -> String
    ) -> [String] {
        var lines = text.documentationLines.map(escape)
        while lines.last?.isEmpty == true { lines.removeLast() }
        while lines.first?.isEmpty == true { lines.removeFirst() }
        if !lines.isEmpty, !more.isEmpty { lines.append("") }
        return lines + more
    }
}
