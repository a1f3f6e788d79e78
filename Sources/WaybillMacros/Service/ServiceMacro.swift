#if Macros

public import SwiftSyntax
public import SwiftSyntaxMacros

/// The macro `@Service("app://time")` for protocols.
///
/// The macro generates a proxy, which calls the service with messages, and the routes of modules that provide
/// the service.
open class ServiceMacro: PeerMacro {
    /// Generates the proxy and the routes.
    public static func expansion(
        of node: AttributeSyntax,
        providingPeersOf declaration: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let reporter = Reporter(context)
        guard
            let service = ServiceDeclaration(
                declaration,
                attribute: node,
                reporter: reporter,
                lexicalContext: context.lexicalContext
            )
        else {
            return []
        }
        return ServiceWriter(service: service).peers
    }
}

#endif
