#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax

extension ServiceRequirement {
    /// Checks that a method is `async throws`.
    ///
    /// Each call of the method is a message. The message takes time, and may fail with errors of the bus that
    /// the method does not declare.
    static func checkEffects(_ function: FunctionDeclSyntax, _ reporter: Reporter) -> Bool {
        let effects = function.signature.effectSpecifiers
        let clause = effects?.throwsClause
        let throwsAny = clause.map { $0.type == nil || $0.type?.trimmedDescription == "any Error" } ?? false
        if effects?.asyncSpecifier != nil, throwsAny { return true }
        let reason =
            clause != nil && !throwsAny
            ? "a service's methods must be `async throws` without a type: a call may also throw a `RoutingError`"
            : "a service's methods must be `async throws`: each call is a message, which takes time and may fail"
        reporter.report(
            reason,
            at: function.name,
            fix: .replace(
                function.signature,
                with: self.withEffects(function.signature),
                "make it `async throws`"
            )
        )
        return false
    }

    private static func withEffects(_ signature: FunctionSignatureSyntax) -> FunctionSignatureSyntax {
        let effects = FunctionEffectSpecifiersSyntax(
            asyncSpecifier: .keyword(.async, leadingTrivia: .space),
            throwsClause: ThrowsClauseSyntax(throwsSpecifier: .keyword(.throws, leadingTrivia: .space))
        )
        let clause = signature.parameterClause.with(\.trailingTrivia, [])
        var result = signature.with(\.parameterClause, clause).with(\.effectSpecifiers, effects)
        if let output = signature.returnClause {
            result = result.with(\.returnClause, output.with(\.leadingTrivia, .space))
        }
        return result
    }
}

#endif
