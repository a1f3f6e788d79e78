#if Macros

internal import SwiftSyntax

extension RouteMethod {
    /// The text of the documentation comment, without comment markers.
    var documentation: String { Self.documentation(of: self.function) }

    /// Returns the text of a declaration's documentation comment, without comment markers.
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

    /// Returns a line without the space that belongs to the comment marker.
    private static func line(_ text: Substring) -> Substring { text.first == " " ? text.dropFirst() : text }

    private static func block(_ text: String) -> [Substring] {
        let lines = String(text.dropFirst(3).dropLast(2)).lines
            .map { line -> Substring in
                let line = line.drop { $0 == " " || $0 == "\t" }
                return self.line(line.first == "*" ? line.dropFirst() : line)
            }
        let content = lines.drop { $0.isEmpty }
        let end = content.lastIndex { !$0.allSatisfy(\.isWhitespace) } ?? content.startIndex
        return content.isEmpty ? [] : Array(content[...end])
    }

    /// The versions in which the method is available, in the form of `#available`; empty if the method is
    /// always available.
    var versions: String {
        for attribute in self.function.attributes {
            guard let attribute = attribute.as(AttributeSyntax.self), attribute.plainName == "available",
                let arguments = attribute.arguments?.as(AvailabilityArgumentListSyntax.self)
            else { continue }
            let items = arguments.map(\.argument)
            let isShort = items.contains {
                // `@available(swift 5.9)` names a version of the language, which a program cannot check.
                guard case .availabilityVersionRestriction(let version) = $0 else { return false }
                return !["swift", "_PackageDescription"].contains(version.platform.text)
            }
            if isShort { return arguments.trimmedDescription }
        }
        return ""
    }
}

#endif
