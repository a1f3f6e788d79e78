#if Macros

internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// Generates the proxy and the routes of a service.
struct ServiceWriter {
    let service: ServiceDeclaration

    var peers: [DeclSyntax] { ["\(raw: self.proxy)", "\(raw: self.routes)"] }

    /// The name of the generic parameter for the module, which must not be a type of the program.
    private static let provider = "WaybillProvider"

    private var proxyName: String { "\(self.service.name.withoutBackticks)Proxy".asIdentifier }
    private var head: String { self.service.availability.map { "\($0)\n" }.joined() }

    private var proxy: String {
        let access = self.service.memberAccess
        let names = self.service.requirements.map(\.name.asLiteral)
        let members = self.replies + self.service.requirements.enumerated().map(self.call)
        let calls = members.map { "\n\n    \($0.indented(by: 4))" }.joined()
        return """
            \(self.head)/// A proxy that calls a ``\(self.service.name)`` with messages.
            nonisolated \(self.service.access)struct \(self.proxyName): \(self.service.name) {
                private let waybillMethods: Waybill.ServiceMethods

                /// Creates a proxy for the provider at an endpoint.
                \(access)init(_ endpoint: Waybill.ServiceEndpoint) {
                    self.waybillMethods = endpoint.methods(\(names.joined(separator: ", ")))
                }\(calls)
            }
            """
    }

    private func call(_ index: Int, _ requirement: ServiceRequirement) -> String {
        let access = self.service.memberAccess
        let attributes = requirement.function.attributes.map { "\($0.trimmedDescription)\n" }.joined()
        let values = requirement.parameters.map { ".with(\($0.name.asLiteral), \($0.identifier))" }
        let lines = requirement.parameters.map(\.line)
        let list = "Waybill.ServiceArguments()\(lines.join(values))"
        let reply = self.reply(requirement).map { "reply: \($0)" } ?? "as: \(requirement.replyMetatype)"
        // The compiler reports a value that is not `Sendable` at the call of `with` for this value. The name
        // `self` may be a parameter, so the code does not use it.
        let body = lines.firstKnown.mapping(
            "try await waybillMethods.call(\(index), \(list), \(reply))"
        )
        let signature = requirement.function.signature.trimmedDescription
        return """
            \(attributes)\(access)\(self.modifiers(requirement))func \(requirement.identifier)\(signature) {
                \(body.indented(by: 4))
            }
            """
    }

    /// The reply types that possibly are not `Sendable`, each declared once.
    ///
    /// The proxy and the routes refer to these declarations, so the compiler reports a type that is not
    /// `Sendable` only at its declaration.
    private var replies: [String] {
        let access = self.service.memberAccess
        let types = self.service.requirements.compactMap { requirement -> String? in
            guard let line = requirement.outputLine else { return nil }
            let type = self.qualified(requirement.output, by: self.proxyName)
            let name = "\(requirement.identifier): Waybill.ServiceReply"
            // Inside of the enumeration, the name `Value` would refer to the enumeration's own type alias.
            let isNamedValue = type.tokens(viewMode: .sourceAccurate).contains { $0.text == "Value" }
            let alias = "\(requirement.name)_Value".asIdentifier
            let outer = isNamedValue ? "\(access)typealias \(alias) = \(type); " : ""
            let value = isNamedValue ? alias : "\(type)"
            let declaration = "\(outer)\(access)enum \(name) { \(access)typealias Value = \(value) }"
            return "\n    \(line.mapping(declaration).indented(by: 4))"
        }
        return types.isEmpty
            ? [] : ["/// The reply types of the methods.\n\(access)enum ReplyTypes {\(types.joined())\n}"]
    }

    private func reply(_ requirement: ServiceRequirement) -> String? {
        requirement.outputLine.map { _ in "\(self.proxyName).ReplyTypes.\(requirement.identifier).self" }
    }

    /// Returns the modifiers of a proxy method.
    ///
    /// A proxy that does not run on its caller's executor would change executors twice in each call.
    private func modifiers(_ requirement: ServiceRequirement) -> String {
        let function = requirement.function
        let written = function.modifiers.map { "\($0.trimmedDescription) " }.joined()
        let isolated = function.attributes.contains {
            let name = $0.as(AttributeSyntax.self)?.plainName ?? ""
            return name == "concurrent" || name.hasSuffix("Actor")
        }
        return written.isEmpty && !isolated ? "nonisolated(nonsending) " : written
    }

    private var routes: String {
        let name = self.service.name
        let statements = self.service.requirements.map {
            "\nroutes.append(\n    \(self.entry($0).indented(by: 4))\n)"
        }
        let isEmpty = statements.isEmpty
        return """
            \(self.head)/// Returns the routes of a module that provides a ``\(name)``. `@Module` calls this method.
            nonisolated \(self.service.access)func serviceRoutes<\(Self.provider): Waybill.Module & \(name)>(
                of service: (any \(name)).Type,
                in module: \(Self.provider).Type
            ) -> [Waybill.ServiceRoutes<\(Self.provider)>] {
                let routes = Waybill.ServiceRoutes<\(Self.provider)>(
                    service,
                    at: \(self.service.url.asLiteral),
                    proxy: { \(self.proxyName)($0) }
                ) { \(isEmpty ? "_" : "url") in
                    \(isEmpty ? "let" : "var") routes: [Waybill.ModuleRoute<\(Self.provider)>] = []\(
                        statements.joined().indented(by: 8))
                    return routes
                }
                return [routes]
            }
            """
    }

    private func entry(_ requirement: ServiceRequirement) -> String {
        var lines = [
            "url + \(RoutePath.path(ofMethod: requirement.name).asLiteral)",
            "action: \(requirement.name.asLiteral)",
            "method: \(requirement.function.fullName.asLiteral)",
        ]
        let parameters = requirement.parameters.map { parameter in
            let type = ValueType.metatype(self.qualified(parameter.type, by: Self.provider))
            let words = [
                parameter.name.asLiteral, parameter.type.trimmedDescription.asLiteral, "of: \(type)",
            ]
            return "\n        .init(\(words.joined(separator: ", "))),"
        }
        if !parameters.isEmpty { lines.append("parameters: [\(parameters.joined())\n    ]") }
        if !requirement.documentation.isEmpty {
            lines.append("documentation: \(requirement.documentation.asLiteral)")
        }
        if let reply = self.reply(requirement) { lines.append("reply: \(reply)") }
        let arguments = requirement.parameters.map { parameter in
            let label = parameter.label.map { "\($0.asArgumentLabel): " } ?? ""
            let type = self.qualified(parameter.type, by: Self.provider).trimmedDescription
            return "\(label)message.argument(\(parameter.name.asLiteral)) as \(type)"
        }
        let list =
            arguments.isEmpty ? "" : "\n        \(arguments.joined(separator: ",\n        "))\n    "
        return """
            Waybill.ModuleRoute<\(Self.provider)>(
                \(lines.joined(separator: ",\n    "))
            ) { module, \(arguments.isEmpty ? "_" : "message") -> \(self.qualifiedReply(requirement)) in
                try await module.\(requirement.identifier)(\(list))
            }
            """
    }

    private func qualifiedReply(_ requirement: ServiceRequirement) -> String {
        let type = self.qualified(requirement.output, by: Self.provider).trimmedDescription
        return type == "()" ? "Void" : type
    }

    /// Returns a type for use outside of the protocol, with the protocol's type aliases qualified.
    private func qualified(_ type: TypeSyntax, by owner: String) -> TypeSyntax {
        AliasRewriter(aliases: self.service.aliases, owner: owner).rewrite(type).cast(TypeSyntax.self)
    }
}

/// A rewriter that writes the name of a type before a protocol's type aliases.
private final class AliasRewriter: SyntaxRewriter {
    private let aliases: Set<String>
    private let owner: String

    init(aliases: Set<String>, owner: String) {
        self.aliases = aliases
        self.owner = owner
        super.init()
    }

    override func visit(_ type: IdentifierTypeSyntax) -> TypeSyntax {
        guard self.aliases.contains(type.name.text) else { return super.visit(type) }
        return "\(raw: self.owner).\(type)"
    }
}

#endif
