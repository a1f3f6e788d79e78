#if Macros

internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// `@Service("app://time")` on a protocol: the proxy that calls it by messages, and the routes of who
/// provides it.
struct ServiceMacro: PeerMacro {
    static func expansion(
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
