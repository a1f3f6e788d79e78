#if Macros

public import SwiftSyntax
internal import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// The macro `@Module("app://user")` for actors.
///
/// For a module, the macro generates the context, the routes, the functions that build URLs, and the
/// conformance.
open class ModuleMacro: MemberMacro, ExtensionMacro {
    /// Generates the members.
    public static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let reporter = Reporter(context)
        guard
            let module = ModuleDeclaration(
                declaration,
                attribute: node,
                reporter: reporter,
                lexicalContext: context.lexicalContext
            )
        else {
            return []
        }
        let routes = ModuleRoutes(of: module, reporter)
        return ModuleWriter(module: module, routes: routes).members
    }

    /// Generates the conformance.
    public static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // If the source declares the conformance, `protocols` is empty, and the macro generates nothing. The
        // expansion that generates the members reports the problems of the declaration.
        guard !protocols.isEmpty,
            let module = ModuleDeclaration(
                declaration,
                attribute: node,
                reporter: .silent,
                lexicalContext: context.lexicalContext
            )
        else { return [] }
        let attributes = module.availability.map { "\($0)\n" }.joined()
        return [try ExtensionDeclSyntax("\(raw: attributes)extension \(type.trimmed): Waybill.Module {}")]
    }
}

#endif
