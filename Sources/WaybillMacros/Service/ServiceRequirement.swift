#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// A validated method that a service requires.
struct ServiceRequirement {
    let function: FunctionDeclSyntax
    let parameters: [RouteParameter]
    let output: TypeSyntax
    /// The source line of the return type; nil if the type is known to be `Sendable`.
    let outputLine: SourceLine?

    /// Creates a requirement, or reports the problem and returns nil when a message cannot call the method.
    init?(_ function: FunctionDeclSyntax, owner: String, reporter: Reporter) {
        self.function = function
        let isPlain = Self.checkPlain(function, reporter)
        let hasEffects = isPlain && Self.checkEffects(function, reporter)
        let list = function.signature.parameterClause.parameters
        self.parameters = list.compactMap { parameter in
            guard Self.checkKept(parameter, reporter) else { return nil }
            return RouteParameter(parameter, of: owner, reporter)
        }
        self.output = function.signature.returnClause.map { ValueType.plain($0.type, in: owner) } ?? "Void"
        self.outputLine = (function.signature.returnClause?.type).flatMap(reporter.line(ofCrossing:))
        guard hasEffects, self.parameters.count == list.count else { return nil }
        if let (parameter, syntax) = zip(self.parameters, list).first(where: { !$0.0.isValue }) {
            let type = parameter.isMessage ? "Message" : "ProgressReplies"
            reporter.report(
                "a service's method cannot have a `\(type)` parameter, because callers do not have one: use other parameters",
                at: syntax.type
            )
            return nil
        }
    }

    /// The name in source code, with the backticks that the source code has.
    var identifier: String { self.function.name.text }
    var name: String { self.identifier.withoutBackticks }

    /// The return type as an expression.
    var replyMetatype: String { ValueType.metatype(self.output) }

    /// The text of the documentation comment, without comment markers.
    var documentation: String { RouteMethod.documentation(of: self.function) }

    private static func checkPlain(_ function: FunctionDeclSyntax, _ reporter: Reporter) -> Bool {
        let reasons = [
            "static": "a message calls an instance, so the method cannot be static",
            "mutating": "a proxy does not change when it sends a message, so the method cannot be mutating",
        ]
        for modifier in function.modifiers {
            guard let reason = reasons[modifier.name.text] else { continue }
            reporter.report(
                reason,
                at: modifier,
                fix: .remove(modifier, from: function)
            )
            return false
        }
        if let generics = function.genericParameterClause {
            reporter.report(
                "a service's methods cannot be generic: a URL cannot contain the type argument",
                at: generics
            )
            return false
        }
        if let token = function.signature.tokens(viewMode: .sourceAccurate).first(where: {
            $0.tokenKind == .keyword(.Self)
        }) {
            reporter.report(
                "`Self` cannot be used: for the caller it would be the proxy, and for the handler the module",
                at: token
            )
            return false
        }
        return function.checkAvailability(of: "a service's method", calledBy: "Service", reporter)
    }

    /// Checks that a closure is escaping, because a message stores the closure.
    private static func checkKept(_ parameter: FunctionParameterSyntax, _ reporter: Reporter) -> Bool {
        guard ValueType.function(parameter.type) != nil, !parameter.type.is(OptionalTypeSyntax.self),
            parameter.type.as(AttributedTypeSyntax.self)?.attributes.first(named: "escaping") == nil,
            ValueType.isSendable(parameter.type)
        else { return true }
        let new: TypeSyntax = "@escaping \(parameter.type.trimmed)"
        reporter.report(
            "a closure that is passed in a message must be `@escaping`",
            at: parameter.type,
            fix: .replace(parameter.type, with: new, "add `@escaping`")
        )
        return false
    }
}

#endif
