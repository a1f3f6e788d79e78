#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax

/// The requirements of a service, in the order of the source.
struct ServiceMembers {
    let requirements: [ServiceRequirement]
    /// Whether messages can call all requirements; each other requirement has already been reported.
    let areAllGood: Bool

    init(of declaration: ProtocolDeclSyntax, _ reporter: Reporter) {
        var requirements: [ServiceRequirement] = []
        var areAllGood = true
        for member in declaration.memberBlock.members {
            if member.decl.is(TypeAliasDeclSyntax.self) { continue }
            guard let function = member.decl.as(FunctionDeclSyntax.self) else {
                reporter.report(Self.reason(member.decl), at: Self.place(member.decl))
                areAllGood = false
                continue
            }
            guard
                let requirement = ServiceRequirement(
                    function,
                    owner: declaration.name.text,
                    reporter: reporter
                )
            else {
                areAllGood = false
                continue
            }
            if let rival = requirements.first(where: { $0.name == requirement.name }) {
                reporter.report(
                    "this method would have the same URL as another `\(rival.name)`: rename one of them",
                    at: function.name,
                    notes: [Note(node: Syntax(rival.function.name), message: Misuse("the other method"))]
                )
                areAllGood = false
                continue
            }
            requirements.append(requirement)
        }
        self.requirements = requirements
        self.areAllGood = areAllGood
    }

    private static func reason(_ member: DeclSyntax) -> String {
        if member.is(VariableDeclSyntax.self) {
            return "a service can have only methods, because a message takes time and may fail: "
                + "make the property a method that is `async throws`"
        }
        if member.is(AssociatedTypeDeclSyntax.self) {
            return "a service cannot be generic: a URL cannot contain the type argument"
        }
        if member.is(IfConfigDeclSyntax.self) {
            return "the methods of a service cannot be conditional: put the condition around the protocol"
        }
        return "a service can have only methods"
    }

    private static func place(_ member: DeclSyntax) -> Syntax {
        if let variable = member.as(VariableDeclSyntax.self) { return Syntax(variable.bindingSpecifier) }
        if let type = member.as(AssociatedTypeDeclSyntax.self) { return Syntax(type.associatedtypeKeyword) }
        if let condition = member.as(IfConfigDeclSyntax.self), let first = condition.clauses.first {
            return Syntax(first.poundKeyword)
        }
        return Syntax(member)
    }
}

#endif
