#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax

extension RouteMethod {
    /// Returns whether a message can call the method, apart from the types of its parameters.
    static func checkPlain(_ function: FunctionDeclSyntax, _ reporter: Reporter) -> Bool {
        if let modifier = function.modifiers.first(where: { ["static", "class"].contains($0.name.text) }) {
            reporter.report(
                "a route must be an instance method of the module, not a static method",
                at: modifier,
                fix: .remove(modifier, from: function)
            )
            return false
        }
        let hidden = function.modifiers.first { ["private", "fileprivate"].contains($0.name.text) }
        if let modifier = hidden {
            reporter.report(
                "every caller can use the URL of a route, so its method cannot be `\(modifier.name.text)`",
                at: modifier,
                fix: .remove(modifier, from: function)
            )
            return false
        }
        if let generics = function.genericParameterClause {
            reporter.report(
                "a route cannot be generic: a URL cannot contain the type argument",
                at: generics
            )
            return false
        }
        if let output = function.signature.returnClause?.type, let some = ValueType.opaque(in: Syntax(output))
        {
            reporter.report(
                "a route cannot return an opaque type, because its caller names the type of the reply",
                at: some
            )
            return false
        }
        return function.checkAvailability(of: "a route", calledBy: "Module", reporter)
    }
}

extension FunctionDeclSyntax {
    /// Checks that the code that a macro generates can call the method without an error or a warning.
    func checkAvailability(of kind: String, calledBy macro: String, _ reporter: Reporter) -> Bool {
        for attribute in self.attributes.all(named: "available") {
            let words = attribute.arguments?.as(AvailabilityArgumentListSyntax.self)?.map(
                \.argument.trimmedDescription
            )
            if words?.contains("unavailable") == true {
                reporter.report("\(kind) cannot be unavailable, since messages call it", at: attribute)
                return false
            }
            if words?.contains(where: { $0.hasPrefix("deprecated") }) == true {
                reporter.report(
                    "\(kind) cannot be deprecated: the compiler would warn of the call that `@\(macro)` writes; "
                        + "write in the documentation comment that the method is deprecated",
                    at: attribute
                )
                return false
            }
        }
        return true
    }
}

#endif
