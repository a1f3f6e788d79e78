/// Writes lines of source code with the layout that a formatter would produce.
struct CodeWriter {
    private(set) var text = ""
    private var depth = 0
    private let width: Int
    private let indentation: Int

    init(width: Int, indentation: Int) {
        self.width = width
        self.indentation = indentation
    }

    mutating func line(_ line: String = "") {
        if !line.isEmpty { self.text += String(repeating: " ", count: self.depth * self.indentation) + line }
        self.text += "\n"
    }

    mutating func lines(_ lines: some Sequence<some StringProtocol>) {
        for line in lines { self.line(String(line)) }
    }

    /// Writes a text of several lines at the current indentation.
    mutating func template(_ text: String) {
        self.lines(text.split(separator: "\n", omittingEmptySubsequences: false))
    }

    mutating func indent() { self.depth += 1 }

    mutating func outdent() { self.depth -= 1 }

    /// Writes a list on one line if the list fits, and otherwise with a line for each item.
    ///
    /// The items have no commas. `hasLastComma` tells whether a comma follows the last item of a list with a
    /// line for each item.
    mutating func list(
        _ items: [String],
        opening: String,
        closing: String,
        hasLastComma: Bool = true
    ) {
        let line = opening + items.joined(separator: ", ") + closing
        if items.isEmpty || self.fits(line) { return self.line(line) }
        self.line(opening)
        self.indent()
        for (index, item) in items.enumerated() {
            self.line(item + (hasLastComma || index < items.count - 1 ? "," : ""))
        }
        self.outdent()
        self.line(closing)
    }

    /// Returns whether a line is short enough at the current indentation.
    func fits(_ line: String) -> Bool {
        self.depth * self.indentation + line.unicodeScalars.count <= self.width
    }
}

extension String {
    /// Returns the text as a literal in quotation marks.
    ///
    /// The literal contains no control characters, no byte order marks, and no separators of lines. `escape`
    /// receives the hexadecimal digits of the number of a character, and returns the escape sequence.
    func literal(_ escape: (String) -> String) -> String {
        var literal = "\""
        for scalar in self.unicodeScalars {
            switch scalar {
            case "\"", "\\": literal += "\\\(scalar)"
            case "\n": literal += "\\n"
            case "\u{2028}", "\u{2029}", "\u{FEFF}": literal += escape(String(scalar.value, radix: 16))
            case _ where scalar.properties.generalCategory == .control:
                literal += escape(String(scalar.value, radix: 16))
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return literal + "\""
    }

    /// The text as a string literal of Python or TypeScript.
    var quotedText: String {
        self.literal { "\\u" + String(repeating: "0", count: 4 - $0.count) + $0 }
    }

    /// The text between the quotation marks of a literal.
    var literalContent: String { String(decoding: self.utf8.dropFirst().dropLast(), as: UTF8.self) }

    /// The lines of a documentation text, without characters that would end a line or a comment in another
    /// language.
    var documentationLines: [String] {
        self.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            String(
                String.UnicodeScalarView(
                    line.unicodeScalars.filter { $0.properties.generalCategory != .control }
                )
            )
        }.map { line in
            String(line.reversed().drop(while: \.isWhitespace).reversed())
        }
    }
}
