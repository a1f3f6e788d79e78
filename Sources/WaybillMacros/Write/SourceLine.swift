#if Macros

internal import SwiftSyntax

/// A line of the source to which a macro is attached, used for the compiler's errors about the expansion.
///
/// A macro cannot determine whether a type is `Sendable`. The compiler checks the type in the expansion.
/// Without a directive, it would report the error there and not at the type in the source.
struct SourceLine: Equatable {
    let file: String
    let number: Int

    /// Returns code whose first line the compiler treats as this line of the source.
    func mapping(_ code: String) -> String {
        "#sourceLocation(file: \(self.file.asLiteral), line: \(self.number))\n\(code)\n#sourceLocation()"
    }
}

extension SourceLine? {
    /// Returns the code, mapped to the source line if there is one.
    func mapping(_ code: String) -> String { self?.mapping(code) ?? code }
}

extension [SourceLine?] {
    /// The first line that is not nil.
    var firstKnown: SourceLine? { self.lazy.compactMap(\.self).first }

    /// Joins parts of one statement, each on its own source line.
    ///
    /// A part on a later source line begins a new line.
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
