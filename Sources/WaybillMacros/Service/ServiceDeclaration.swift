#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// A validated protocol with the attribute `@Service`.
struct ServiceDeclaration {
    let declaration: ProtocolDeclSyntax
    /// The base URL of the service's methods, without a trailing slash.
    let url: String
    let requirements: [ServiceRequirement]

    /// Creates a declaration, or reports the problem and returns nil when the declaration cannot be a
    /// service.
    init?(
        _ declaration: some DeclSyntaxProtocol,
        attribute: AttributeSyntax,
        reporter: Reporter,
        lexicalContext: [Syntax]
    ) {
        guard let declaration = declaration.as(ProtocolDeclSyntax.self) else {
            reporter.report("`@Service` can be attached only to a protocol", at: attribute)
            return nil
        }
        self.declaration = declaration
        let isPlain = Self.checkPlace(declaration, reporter: reporter, lexicalContext: lexicalContext)
        let isSendable = Self.checkInheritance(declaration, reporter)
        let members = ServiceMembers(of: declaration, reporter)
        self.requirements = members.requirements
        let url = ServiceURL.url(in: attribute, of: declaration.name.text, reporter: reporter)
        guard let url, isPlain, isSendable, members.areAllGood else { return nil }
        self.url = url
        self.checkAccess(reporter)
    }

    var name: String { self.declaration.name.text }

    /// The names of the type aliases in the protocol.
    var aliases: Set<String> {
        let members = self.declaration.memberBlock.members
        return Set(members.compactMap { $0.decl.as(TypeAliasDeclSyntax.self)?.name.text })
    }

    /// The access modifier of the generated declarations, with a trailing space.
    var access: String {
        let words = self.declaration.modifiers.map(\.name.text)
        return words.first { ["public", "package", "private", "fileprivate"].contains($0) }.map {
            $0 == "private" ? "fileprivate " : "\($0) "
        } ?? ""
    }

    /// The access modifier of generated members that must be as visible as the protocol.
    var memberAccess: String { self.access == "fileprivate " ? "" : self.access }

    var availability: [String] { self.declaration.attributes.availability }

    /// Warns about a protocol whose conforming types are all visible to the optimizer.
    ///
    /// The optimizer does not consider the proxy, because a macro has generated it. If only one module
    /// conforms, the optimizer of Swift 6.3 assumes that every value of the protocol is this module. The
    /// optimizer then calls the module's method directly, on the memory of the proxy.
    private func checkAccess(_ reporter: Reporter) {
        guard self.access != "public ", self.access != "package " else { return }
        let name = self.name
        reporter.report(
            "make `\(name)` `package` or `public`: otherwise an optimized build replaces every "
                + "`any \(name)` with the only module that provides it, and calls bypass the bus",
            .warning,
            at: self.declaration.name
        )
    }

    private static func checkPlace(
        _ declaration: ProtocolDeclSyntax,
        reporter: Reporter,
        lexicalContext: [Syntax]
    ) -> Bool {
        if !lexicalContext.isEmpty {
            reporter.report(
                "a service must be declared at file level, where the modules that provide it can use its routes",
                at: declaration.name
            )
            return false
        }
        if let types = declaration.primaryAssociatedTypeClause {
            reporter.report("a service cannot be generic: a URL cannot contain the type argument", at: types)
            return false
        }
        if let clause = declaration.genericWhereClause {
            reporter.report(
                "a service cannot be generic: a URL cannot contain the type argument",
                at: clause
            )
            return false
        }
        return true
    }

    /// Checks that the protocol inherits only from `Sendable`.
    ///
    /// All callers share a proxy, so the proxy must be `Sendable`. The macro cannot see the requirements of
    /// other protocols.
    private static func checkInheritance(_ declaration: ProtocolDeclSyntax, _ reporter: Reporter) -> Bool {
        let types = declaration.inheritanceClause?.inheritedTypes.map(\.type) ?? []
        if let other = types.first(where: { !["Sendable", "Swift.Sendable"].contains($0.trimmedDescription) })
        {
            reporter.report(
                "a service can inherit only from `Sendable`: "
                    + "the macro cannot see the requirements of `\(other.trimmedDescription)`",
                at: other
            )
            return false
        }
        guard types.isEmpty else { return true }
        let name = declaration.name
        reporter.report(
            "a service must inherit from `Sendable`, because all callers share one proxy",
            at: name,
            fix: FixIt(
                message: Misuse("add `Sendable`"),
                changes: [
                    .replace(
                        oldNode: Syntax(declaration.name),
                        newNode: Syntax(
                            TokenSyntax.identifier(
                                "\(name.text): Sendable",
                                leadingTrivia: name.leadingTrivia,
                                trailingTrivia: name.trailingTrivia
                            )
                        )
                    )
                ]
            )
        )
        return false
    }
}

#endif
