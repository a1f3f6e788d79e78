/// Writes lines of source code in the layout of a formatter.
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

    mutating func indent() { self.depth += 1 }

    mutating func outdent() { self.depth -= 1 }

    /// Writes a list on one line if it fits, and else with a line for each item.
    ///
    /// - Parameters:
    ///   - items: The items, without commas.
    ///   - opening: The text before the items.
    ///   - closing: The text after the items.
    ///   - padding: The text at both ends of a list on one line.
    ///   - hasLastComma: Whether a comma follows the last item when it has its own line.
    mutating func list(
        _ items: [String],
        opening: String,
        closing: String,
        padding: String = "",
        hasLastComma: Bool = true
    ) {
        let pad = items.isEmpty ? "" : padding
        let line = opening + pad + items.joined(separator: ", ") + pad + closing
        if items.isEmpty || self.fits(line) { return self.line(line) }
        self.line(opening)
        self.indent()
        for (index, item) in items.enumerated() {
            self.line(item + (hasLastComma || index < items.count - 1 ? "," : ""))
        }
        self.outdent()
        self.line(closing)
    }

    /// Returns whether a line is not too long at the present depth.
    func fits(_ line: String) -> Bool {
        self.depth * self.indentation + line.unicodeScalars.count <= self.width
    }
}

extension String {
    /// The text as lines of documentation, without characters that end a line or a comment elsewhere.
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
