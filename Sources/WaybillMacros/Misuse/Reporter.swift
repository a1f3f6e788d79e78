#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// Reports diagnostics to the compiler.
///
/// A silent reporter reports nothing. Two expansions of one macro read the same declaration, and only one of
/// them reports its problems.
struct Reporter {
    private let context: (any MacroExpansionContext)?

    init(_ context: any MacroExpansionContext) { self.context = context }

    private init() { self.context = nil }

    static var silent: Self { Self() }

    func report(
        _ message: String,
        _ severity: DiagnosticSeverity = .error,
        at node: some SyntaxProtocol,
        fix: FixIt? = nil,
        notes: [Note] = []
    ) {
        let fixes = fix.map { [$0] } ?? []
        self.context?
            .diagnose(
                Diagnostic(
                    node: Syntax(node),
                    message: Misuse(message, severity),
                    notes: notes,
                    fixIts: fixes
                )
            )
    }
}

extension Reporter {
    /// Returns the source line of a type whose values are passed between event loops; nil if the type is
    /// known to be `Sendable`.
    func line(ofCrossing type: TypeSyntax) -> SourceLine? {
        guard !ValueType.isKnownSendable(type) else { return nil }
        return self.line(of: type)
    }

    func line(of node: some SyntaxProtocol) -> SourceLine? {
        let place = self.context?.location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath)
        guard let place, let file = place.file.literalText, let number = Int(place.line.trimmedDescription)
        else { return nil }
        return SourceLine(file: file, number: number)
    }
}

extension FixIt {
    /// Returns a change that removes a modifier.
    static func remove(_ modifier: DeclModifierSyntax, from function: FunctionDeclSyntax) -> FixIt {
        .replace(
            function,
            with: function.with(\.modifiers, function.modifiers.filter { $0 != modifier }),
            "remove `\(modifier.name.text)`"
        )
    }

    /// Returns a change that replaces a piece of code and keeps the white space and the comments around it.
    static func replace(_ old: some SyntaxProtocol, with new: some SyntaxProtocol, _ message: String) -> FixIt
    {
        let change = Change.replace(
            oldNode: Syntax(old),
            newNode: Syntax(
                new.with(\.leadingTrivia, old.leadingTrivia).with(\.trailingTrivia, old.trailingTrivia)
            )
        )
        return FixIt(message: Misuse(message), changes: [change])
    }
}

#endif
