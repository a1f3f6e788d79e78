#if Macros

internal import SwiftSyntax

extension RouteMethod {
    /// The documentation comment, without its signs.
    var documentation: String { Self.documentation(of: self.function) }

    /// The same of any declaration.
    static func documentation(of declaration: some DeclSyntaxProtocol) -> String {
        let lines = declaration.leadingTrivia.pieces.flatMap { piece -> [Substring] in
            switch piece {
            case .docLineComment(let text): [self.line(text.dropFirst(3))]
            case .docBlockComment(let text): self.block(text)
            default: []
            }
        }
        return lines.joined(separator: "\n")
    }

    /// A line of which one space belongs to the signs.
    private static func line(_ text: Substring) -> Substring { text.first == " " ? text.dropFirst() : text }

    private static func block(_ text: String) -> [Substring] {
        let lines = text.dropFirst(3).dropLast(2).split(separator: "\n", omittingEmptySubsequences: false)
            .map { line -> Substring in
                let line = line.drop { $0 == " " || $0 == "\t" }
                return self.line(line.first == "*" ? line.dropFirst() : line)
            }
        let content = lines.drop { $0.isEmpty }
        let end = content.lastIndex { !$0.allSatisfy(\.isWhitespace) } ?? content.startIndex
        return content.isEmpty ? [] : Array(content[...end])
    }

    /// The versions from which on the method exists, as `#available` takes them; empty if it always does.
    var versions: String {
        for attribute in self.function.attributes {
            guard let attribute = attribute.as(AttributeSyntax.self), attribute.plainName == "available",
                let arguments = attribute.arguments?.as(AvailabilityArgumentListSyntax.self)
            else { continue }
            let items = arguments.map(\.argument)
            let isShort = items.contains {
                if case .availabilityVersionRestriction = $0 { true } else { false }
            }
            if isShort { return arguments.trimmedDescription }
        }
        return ""
    }
}

#endif
