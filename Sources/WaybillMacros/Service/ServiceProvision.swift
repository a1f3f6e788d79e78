#if Macros

internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// The services that a module provides: a macro cannot look at a type's protocols, so for every type that the
/// actor names behind its colon a call is written, and the compiler finds the one that belongs to a service,
/// or the one that gives nothing.
struct ServiceProvision {
    let module: ModuleDeclaration

    /// Nil where the actor names no type, or says itself what it provides.
    var member: DeclSyntax? {
        let types = self.types
        guard !types.isEmpty, !self.isDeclared else { return nil }
        let name = self.module.name
        let calls = types.map {
            "\n    services += serviceRoutes(of: (any \($0)).self, in: \(name).self)"
        }
        return """
            \(raw: self.module.access)static var services: [Waybill.ServiceRoutes<\(raw: name)>] {
                var services: [Waybill.ServiceRoutes<\(raw: name)>] = []\(raw: calls.joined())
                return services
            }
            """
    }

    private var isDeclared: Bool {
        self.module.actor.memberBlock.members.contains {
            $0.decl.as(VariableDeclSyntax.self)?.names.contains("services") == true
        }
    }

    private var types: [String] {
        let types = self.module.actor.inheritanceClause?.inheritedTypes.map(\.type) ?? []
        return types.map { type in
            type.as(AttributedTypeSyntax.self)?.baseType.trimmedDescription ?? type.trimmedDescription
        }
        // Of what every module may be, none is a service, and the first is a class.
        .filter { !["NSObject", "Sendable", "LoopBound", "Module", "Waybill.Module", "Actor"].contains($0) }
    }
}

#endif
