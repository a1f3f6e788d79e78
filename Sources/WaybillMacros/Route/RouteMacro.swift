#if Macros

internal import SwiftDiagnostics
public import SwiftSyntax
public import SwiftSyntaxMacros

/// The macro `@Route`, which marks a method as a route.
///
/// `@Module` generates the code for the route. `@Route` itself only reports invalid uses.
open class RouteMacro: PeerMacro {
    /// Reports an invalid use of the attribute, and generates nothing.
    public static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        if let misuse = self.misuse(declaration, context.lexicalContext) {
            Reporter(context).report(misuse, at: node, fix: self.removal(of: node, from: declaration))
        }
        return []
    }

    private static func misuse(_ declaration: some DeclSyntaxProtocol, _ lexicalContext: [Syntax]) -> String?
    {
        guard declaration.is(FunctionDeclSyntax.self) else {
            return "`@Route` can be attached only to a method"
        }
        guard let outer = lexicalContext.first else {
            return "`@Route` can be attached only to a method of an actor with `@Module`"
        }
        if outer.is(ExtensionDeclSyntax.self) {
            return "a route must be declared in the actor itself: `@Module` does not see its extensions"
        }
        guard let attributes = outer.asProtocol((any WithAttributesSyntax).self)?.attributes,
            attributes.first(named: "Module") != nil
        else { return "`@Route` can be attached only to a method of an actor with `@Module`" }
        // If the outer type is not an actor, `@Module` reports the error.
        return nil
    }

    private static func removal(of node: AttributeSyntax, from declaration: some DeclSyntaxProtocol) -> FixIt?
    {
        guard let attributed = declaration.asProtocol((any WithAttributesSyntax).self),
            let index = attributed.attributes.firstIndex(where: {
                $0.trimmedDescription == node.trimmedDescription
            })
        else { return nil }
        var attributes = attributed.attributes
        attributes.remove(at: index)
        let new = attributed.with(\.attributes, attributes)
        return .replace(declaration, with: Syntax(new).cast(DeclSyntax.self), "remove `@Route`")
    }
}

#endif
