#if Macros

public import SwiftSyntax
internal import SwiftSyntaxBuilder
public import SwiftSyntaxMacros

/// `@Module("app://user")` on an actor: its place in a bus, its routes, the builders of its URLs, its
/// conformance.
open class ModuleMacro: MemberMacro, ExtensionMacro {
    /// Writes the members.
    public static func expansion(
        of node: AttributeSyntax,
        providingMembersOf declaration: some DeclGroupSyntax,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let reporter = Reporter(context)
        guard let module = ModuleDeclaration(declaration, node, reporter, context.lexicalContext) else {
            return []
        }
        let routes = ModuleRoutes(of: module, reporter)
        return ModuleWriter(module: module, routes: routes).members
    }

    /// Writes the conformance.
    public static func expansion(
        of node: AttributeSyntax,
        attachedTo declaration: some DeclGroupSyntax,
        providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        // A conformance that is written out by hand gets no second one; what is wrong is reported where the
        // members are.
        guard !protocols.isEmpty,
            let module = ModuleDeclaration(declaration, node, .silent, context.lexicalContext)
        else { return [] }
        let attributes = module.availability.map { "\($0)\n" }.joined()
        return [try ExtensionDeclSyntax("\(raw: attributes)extension \(type.trimmed): Waybill.Module {}")]
    }
}

#endif
