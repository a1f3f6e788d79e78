#if Macros

public import SwiftSyntax
public import SwiftSyntaxMacros

/// `@Service("app://time")` on a protocol: the proxy that calls it by messages, and the routes of its
/// providers.
open class ServiceMacro: PeerMacro {
    /// Writes the proxy and the routes.
    public static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let reporter = Reporter(context)
        guard let service = ServiceDeclaration(declaration, node, reporter, context.lexicalContext) else {
            return []
        }
        return ServiceWriter(service: service).peers
    }
}

#endif
