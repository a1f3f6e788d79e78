#if Macros

internal import SwiftSyntax
internal import WaybillRouting

/// The entry of a route in the module's list, with the code that calls the method.
struct RouteEntry {
    let method: RouteMethod
    let module: String

    /// The statement that adds the entry to the list.
    ///
    /// The compiler reports a reply that is not `Sendable` at the initializer's first line. That line is the
    /// reply's in the source; the closure keeps its own lines, so it stands in front.
    var statement: String {
        let type = "Waybill.ModuleRoute<\(self.module)>"
        guard let line = self.method.replyLine else {
            let code = """
                \(type)(
                    \(self.description.joined(separator: ",\n    "))
                ) { module, \(self.message) -> \(self.method.reply) in
                    \(self.call)
                }
                """
            return "routes.append(\n    \(code.indented(by: 4))\n)"
        }
        let parameters = "module: isolated \(self.module), \(self.message): Waybill.Message"
        let code = """
            let body = { @Sendable (\(parameters)) -> \(self.method.reply) in
                \(self.call)
            }
            \(line.mapping("routes.append(\(type)(\n    \((self.description + ["body"]).joined(separator: ",\n    "))\n))"))
            """
        return "do {\n    \(code.indented(by: 4))\n}"
    }

    private var message: String { self.readsMessage ? "message" : "_" }

    private var readsMessage: Bool { !self.method.parameters.isEmpty }
    private var readsValues: Bool { self.method.parameters.contains { !$0.isMessage } }

    private var description: [String] {
        var lines = [self.method.pattern.text.asLiteral, "action: \(self.method.name.asLiteral)"]
        let parameters = self.method.parameters.filter { !$0.isMessage }
            .map { parameter in
                var words = [parameter.name.asLiteral, parameter.type.trimmedDescription.asLiteral]
                words.append("of: \(ValueType.metatype(parameter.type))")
                if let value = parameter.defaultValue {
                    words.append("default: \(value.trimmedDescription.asLiteral)")
                }
                return "\n        .init(\(words.joined(separator: ", "))),"
            }
        if !parameters.isEmpty { lines.append("parameters: [\(parameters.joined())\n    ]") }
        if !self.method.documentation.isEmpty {
            lines.append("documentation: \(self.method.documentation.asLiteral)")
        }
        return lines
    }

    private var call: String {
        let isThrowing = self.method.mayThrow || self.readsValues
        let isAsync = self.method.isAsync || self.method.isElsewhere
        let arguments = self.method.parameters.map { parameter in
            (parameter.label.map { "\($0): " } ?? "") + self.value(of: parameter)
        }
        let list = arguments.isEmpty ? "" : "\n        \(arguments.joined(separator: ",\n        "))\n    "
        return
            "\(isThrowing ? "try " : "")\(isAsync ? "await " : "")module.\(self.method.identifier)(\(list))"
    }

    /// The type is named, so that of two methods with one name the right one is called.
    private func value(of parameter: RouteParameter) -> String {
        if parameter.isMessage { return "message" }
        let name = parameter.name.asLiteral
        let read = "message.argument(\(name))"
        guard let value = parameter.defaultValue, !value.is(NilLiteralExprSyntax.self) else {
            return "\(read) as \(parameter.type.trimmedDescription)"
        }
        // Behind `??`, nil that was passed would be a missing value.
        if ValueType.isOptional(parameter.type) {
            let type = parameter.type.trimmedDescription
            return "message.argument(\(name), default: \(value.trimmedDescription)) as \(type)"
        }
        return "\(read) as \(ValueType.optional(parameter.type)) ?? \(Self.operand(value))"
    }

    private static func operand(_ value: ExprSyntax) -> String {
        let isOne =
            value.is(StringLiteralExprSyntax.self) || value.is(IntegerLiteralExprSyntax.self)
            || value.is(FloatLiteralExprSyntax.self) || value.is(BooleanLiteralExprSyntax.self)
            || value.is(ArrayExprSyntax.self) || value.is(DictionaryExprSyntax.self)
            || value.is(DeclReferenceExprSyntax.self) || value.is(MemberAccessExprSyntax.self)
            || value.is(FunctionCallExprSyntax.self) || value.is(TupleExprSyntax.self)
        return isOne ? value.trimmedDescription : "(\(value.trimmedDescription))"
    }
}

#endif
