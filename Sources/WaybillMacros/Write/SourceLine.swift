#if Macros

internal import SwiftSyntax

/// A line of the source to which a macro is attached.
///
/// A macro cannot determine whether a type is `Sendable`. The compiler checks the type in the expansion.
/// Without a `#sourceLocation` directive, the compiler would report the error in the expansion and not at the
/// type in the source.
struct SourceLine: Equatable {
    let file: String
    let number: Int

    /// Returns code whose first line the compiler treats as this line of the source.
    func mapping(_ code: String) -> String {
        "#sourceLocation(file: \(self.file.asLiteral), line: \(self.number))\n\(code)\n#sourceLocation()"
    }
}

extension SourceLine? {
    /// Returns the code, mapped to the source line, or unchanged if the line is nil.
    func mapping(_ code: String) -> String { self?.mapping(code) ?? code }
}

extension [SourceLine?] {
    /// The first line that is not nil.
    var firstKnown: SourceLine? { self.lazy.compactMap(\.self).first }

    /// Joins the parts of one statement, with line breaks before each part that has a later source line.
    func join(_ parts: [String], separator: String = "") -> String {
        var current = self.firstKnown?.number ?? 0
        var text = ""
        for (line, part) in zip(self, parts) {
            let next = Swift.max(line?.number ?? current, current)
            let isFirst = text.isEmpty
            let gap = next > current ? String(repeating: "\n", count: next - current) : ""
            let space = gap.isEmpty && separator == "," ? " " : gap
            text += (isFirst ? "" : separator + space) + part
            current = next
        }
        return text
    }
}

#endif
