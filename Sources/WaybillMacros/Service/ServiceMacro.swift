#if Macros

public import SwiftSyntax
public import SwiftSyntaxMacros

/// The macro `@Service("app://time")` for protocols.
///
/// It generates the proxy that calls a service by messages, and the routes of the modules that provide the
/// service.
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
