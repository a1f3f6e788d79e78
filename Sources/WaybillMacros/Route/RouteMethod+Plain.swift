#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax

extension RouteMethod {
    /// Whether the method is one that a message can call, whatever its parameters are.
    static func checkPlain(_ function: FunctionDeclSyntax, _ reporter: Reporter) -> Bool {
        if let modifier = function.modifiers.first(where: { ["static", "class"].contains($0.name.text) }) {
            reporter.report(
                "a route is a method of the module, and not of its type",
                at: modifier,
                fix: .replace(
                    function,
                    with: function.with(\.modifiers, function.modifiers.filter { $0 != modifier }),
                    "remove `\(modifier.name.text)`"
                )
            )
            return false
        }
        if let generics = function.genericParameterClause {
            reporter.report("a route cannot be generic: a URL does not say for which type it is", at: generics)
            return false
        }
        if let output = function.signature.returnClause?.type, let some = ValueType.opaque(in: Syntax(output)) {
            reporter.report(
                "a route's caller names the type of the reply, so that cannot be opaque",
                at: some
            )
            return false
        }
        if let attribute = function.attributes.first(named: "available"),
            attribute.arguments?.trimmedDescription.contains("unavailable") == true
        {
            reporter.report("a route cannot be unavailable, since messages call it", at: attribute)
            return false
        }
        return true
    }
}

#endif
