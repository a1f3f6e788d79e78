#if Macros

internal import SwiftSyntax

/// A line of the code that a macro stands on, where the compiler's errors about an expansion belong.
///
/// A macro does not see whether a type is `Sendable`. The compiler finds that out in the expansion, and
/// without a directive it would say so there, and not at the type that is written in the source.
struct SourceLine: Equatable {
    let file: String
    let number: Int

    /// Code of an expansion, whose first line is this line of the source.
    func mapping(_ code: String) -> String {
        "#sourceLocation(file: \(self.file.asLiteral), line: \(self.number))\n\(code)\n#sourceLocation()"
    }
}

extension SourceLine? {
    /// The code, on a line of the source if there is one.
    func mapping(_ code: String) -> String { self?.mapping(code) ?? code }
}

extension [SourceLine?] {
    /// The first line of those that there are.
    var firstKnown: SourceLine? { self.lazy.compactMap(\.self).first }

    /// Parts of one statement, each on its own line of the source: those of later lines begin a new line.
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
