#if Macros

internal import SwiftSyntax

/// A call of a module's method with the values in a message.
struct MethodCall {
    let function: FunctionDeclSyntax
    let parameters: [RouteParameter]
    /// Whether the method is isolated to a different actor than the module.
    var isElsewhere = false

    /// The name of the module in the parameter list of the enclosing closure.
    ///
    /// A default value stands in the closure, too, so the names in the closure must not be names of the
    /// program.
    static let module = "waybillModule"
    private static let message = "waybillMessage"

    /// The name of the message in the parameter list of the enclosing closure.
    var message: String { self.parameters.isEmpty ? "_" : Self.message }

    /// The descriptions of the parameters, as an argument of an initializer; nil if the method has no
    /// parameters to describe.
    var descriptions: String? {
        let parameters = self.parameters.filter(\.isValue)
            .map { parameter in
                var words = [parameter.name.asLiteral, parameter.type.trimmedDescription.asLiteral]
                words.append("of: \(ValueType.metatype(parameter.type))")
                if let value = parameter.defaultValue {
                    words.append("default: \(value.trimmedDescription.asLiteral)")
                }
                return "\n        .init(\(words.joined(separator: ", "))),"
            }
        return parameters.isEmpty ? nil : "parameters: [\(parameters.joined())\n    ]"
    }

    /// The code of the call.
    var code: String {
        let isThrowing = self.function.mayThrow || self.parameters.contains(where: \.isValue)
        let isAsync = self.function.isAsync || self.isElsewhere
        let arguments = self.parameters.map { parameter in
            (parameter.label.map { "\($0.asArgumentLabel): " } ?? "") + self.value(of: parameter)
        }
        let list = arguments.isEmpty ? "" : "\n        \(arguments.joined(separator: ",\n        "))\n    "
        let effects = "\(isThrowing ? "try " : "")\(isAsync ? "await " : "")"
        return "\(effects)\(Self.module).\(self.function.name.text)(\(list))"
    }

    /// Returns the code of an argument, with its type, so that the compiler selects the correct overload.
    private func value(of parameter: RouteParameter) -> String {
        let type = parameter.type.trimmedDescription
        if parameter.isMessage { return Self.message }
        if parameter.isProgress { return "\(type)(to: \(Self.message))" }
        let read = "\(Self.message).argument(\(parameter.name.asLiteral)"
        guard let value = parameter.defaultValue, !value.is(NilLiteralExprSyntax.self) else {
            return "\(read)) as \(type)"
        }
        // With `??`, a passed nil would count as a missing value.
        if ValueType.isOptional(parameter.type) {
            return "\(read), default: \(Self.operand(value)) as \(type)) as \(type)"
        }
        return "\(read)) as \(ValueType.optional(parameter.type)) ?? \(Self.operand(value))"
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

extension FunctionDeclSyntax {
    var isAsync: Bool { self.signature.effectSpecifiers?.asyncSpecifier != nil }

    var mayThrow: Bool {
        guard let clause = self.signature.effectSpecifiers?.throwsClause else { return false }
        return clause.type?.trimmedDescription != "Never"
    }
}

#endif
