#if Macros

internal import SwiftParser
internal import SwiftSyntax

extension AttributeSyntax {
    /// The expression in the brackets, if there is one.
    var firstArgument: ExprSyntax? { self.arguments?.as(LabeledExprListSyntax.self)?.first?.expression }

    /// The name without a module in front of it.
    var plainName: String {
        self.attributeName.as(MemberTypeSyntax.self)?.name.text ?? self.attributeName.trimmedDescription
    }
}

extension AttributeListSyntax {
    func first(named name: String) -> AttributeSyntax? {
        self.lazy.compactMap { $0.as(AttributeSyntax.self) }.first { $0.plainName == name }
    }

    /// The attributes that say from which versions on the declaration exists.
    var availability: [String] {
        self.compactMap { $0.as(AttributeSyntax.self) }
            .filter { $0.plainName == "available" }
            .map(\.trimmedDescription)
    }
}

extension ExprSyntax {
    /// The text of a string literal, or nil if it is put together while the program runs.
    var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
}

extension VariableDeclSyntax {
    var names: [String] {
        self.bindings.compactMap {
            $0.pattern.as(IdentifierPatternSyntax.self)?.identifier.text.withoutBackticks
        }
    }
}

extension String {
    var withoutBackticks: String {
        self.count > 2 && self.hasPrefix("`") && self.hasSuffix("`")
            ? String(self.dropFirst().dropLast()) : self
    }

    /// A name as it stands in an expression: in backticks if it would be a keyword there.
    var asIdentifier: String { self.isValidSwiftIdentifier(for: .variableName) ? self : "`\(self)`" }

    /// A name as an argument's label, where few need backticks, and the compiler warns of needless ones.
    var asLabel: String {
        let name = self.withoutBackticks
        return name.isValidSwiftIdentifier(for: .memberAccess) ? name : "`\(name)`"
    }

    /// The text as a literal of Swift.
    var asLiteral: String {
        var literal = ""
        for scalar in self.unicodeScalars {
            switch scalar {
            case "\\": literal += "\\\\"
            case "\"": literal += "\\\""
            case "\n": literal += "\\n"
            case "\r": literal += "\\r"
            case "\t": literal += "\\t"
            case _ where scalar.value < 32: literal += "\\u{\(String(scalar.value, radix: 16))}"
            default: literal.unicodeScalars.append(scalar)
            }
        }
        return "\"\(literal)\""
    }

    /// The text with more in front of each line but the first.
    func indented(by count: Int) -> String {
        self.split(separator: "\n", omittingEmptySubsequences: false)
            .joined(separator: "\n" + String(repeating: " ", count: count))
    }
}

#endif
