#if Macros

internal import SwiftParser
internal import SwiftSyntax

extension AttributeSyntax {
    /// The first argument of the attribute; nil if the attribute has no arguments.
    var firstArgument: ExprSyntax? { self.arguments?.as(LabeledExprListSyntax.self)?.first?.expression }

    /// The name of the attribute without the name of a module before it.
    var plainName: String {
        self.attributeName.as(MemberTypeSyntax.self)?.name.text ?? self.attributeName.trimmedDescription
    }
}

extension AttributeListSyntax {
    func first(named name: String) -> AttributeSyntax? { self.all(named: name).first }

    func all(named name: String) -> [AttributeSyntax] {
        self.compactMap { $0.as(AttributeSyntax.self) }.filter { $0.plainName == name }
    }

    /// Returns the `#if` in the list that contains an attribute with a name; nil if there is none.
    func condition(around name: String) -> IfConfigDeclSyntax? {
        self.lazy.compactMap { $0.as(IfConfigDeclSyntax.self) }.first { condition in
            condition.clauses.contains { clause in
                guard let attributes = clause.elements?.as(AttributeListSyntax.self) else { return false }
                return attributes.first(named: name) != nil || attributes.condition(around: name) != nil
            }
        }
    }

    /// The attributes that restrict the availability of the declaration.
    var availability: [String] {
        self.compactMap { $0.as(AttributeSyntax.self) }
            .filter { $0.plainName == "available" }
            .map(\.trimmedDescription)
    }
}

extension ExprSyntax {
    /// The text of a string literal; nil for any other expression and for a literal with interpolations.
    var literalText: String? { self.as(StringLiteralExprSyntax.self)?.representedLiteralValue }
}

extension WithModifiersSyntax {
    var isStatic: Bool { self.modifiers.contains { $0.name.text == "static" } }
}

extension VariableDeclSyntax {
    var names: [String] { self.bindings.flatMap(\.pattern.names) }
}

extension PatternSyntax {
    /// The names that the pattern declares.
    var names: [String] {
        if let name = self.as(IdentifierPatternSyntax.self) { return [name.identifier.text.withoutBackticks] }
        return self.as(TuplePatternSyntax.self)?.elements.flatMap(\.pattern.names) ?? []
    }
}

extension String {
    var withoutBackticks: String {
        self.count > 2 && self.hasPrefix("`") && self.hasSuffix("`")
            ? String(self.dropFirst().dropLast()) : self
    }

    /// The name for use in an expression, in backticks if the name is a keyword there.
    var asIdentifier: String { self.isValidSwiftIdentifier(for: .variableName) ? self : "`\(self)`" }

    /// The name for use as the label of an argument in a call, in backticks if it needs them there.
    ///
    /// Most keywords need no backticks there, and the compiler warns about backticks that are not needed.
    var asArgumentLabel: String {
        var parser = Parser("f(\(self): 0)")
        let call = ExprSyntax.parse(from: &parser).as(FunctionCallExprSyntax.self)
        let isPlain = call?.hasError == false && call?.arguments.first?.label?.text == self
        return isPlain ? self : "`\(self)`"
    }

    /// The name for use as the label of a parameter in a declaration, in backticks if it needs them there.
    var asParameterLabel: String {
        // Without backticks, the compiler warns that it does not treat these keywords as specifiers.
        ["let", "var"].contains(self) ? "`\(self)`" : self.asArgumentLabel
    }

    /// The text as a Swift string literal.
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

    /// The lines of the text.
    var lines: [Substring] {
        // In a file of Windows, a line ends with the character "\r\n". Other separators of lines may be part
        // of a string literal.
        self.split(omittingEmptySubsequences: false) { ["\n", "\r\n", "\r"].contains($0) }
    }

    /// Returns the text with spaces before each line except the first.
    func indented(by count: Int) -> String {
        self.lines
            .joined(separator: "\n" + String(repeating: " ", count: count))
    }
}

#endif
