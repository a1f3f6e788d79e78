#if Macros

internal import SwiftSyntax

/// The routes of a module in the order of the source, within the `#if` conditions that surround them.
struct ModuleRoutes {
    /// A route, or an `#if` with its clauses.
    enum Item {
        case route(RouteMethod)
        case conditional([Clause])
    }

    /// One clause of an `#if`.
    struct Clause {
        /// The condition: `#if DEBUG`, `#elseif os(Linux)` or `#else`.
        let condition: String
        let items: [Item]
    }

    let items: [Item]

    /// Whether at least one route is outside of all `#if` conditions.
    var hasUnconditional: Bool {
        self.items.contains { item in
            if case .route = item { true } else { false }
        }
    }

    init(of module: ModuleDeclaration, _ reporter: Reporter) {
        var conflicts = RouteConflicts(reporter)
        self.items = Self.items(module.actor.memberBlock.members, module: module, reporter: reporter) {
            conflicts.add($0, $1)
        }
        Self.checkNames(module.actor.memberBlock.members, reporter)
    }

    private typealias Check = (RouteMethod, _ branches: [RouteConflicts.Branch]) -> Bool

    private static func items(
        _ members: MemberBlockItemListSyntax,
        module: ModuleDeclaration,
        reporter: Reporter,
        branches: [RouteConflicts.Branch] = [],
        isFree: Check
    ) -> [Item] {
        var items: [Item] = []
        for member in members {
            if let condition = member.decl.as(IfConfigDeclSyntax.self) {
                let clauses = self.clauses(
                    condition,
                    module: module,
                    reporter: reporter,
                    branches: branches,
                    isFree: isFree
                )
                if clauses.contains(where: { !$0.items.isEmpty }) { items.append(.conditional(clauses)) }
            } else if let function = member.decl.as(FunctionDeclSyntax.self),
                let condition = function.attributes.condition(around: "Route")
            {
                reporter.report(
                    "`@Module` cannot read an attribute inside of `#if`: write the condition around the whole method",
                    at: condition
                )
            } else if let function = member.decl.as(FunctionDeclSyntax.self),
                let second = function.attributes.all(named: "Route").dropFirst().first
            {
                reporter.report(
                    "a method is one route: write a second method for another URL, and call this method in it",
                    at: second
                )
            } else if let function = member.decl.as(FunctionDeclSyntax.self),
                let attribute = function.attributes.first(named: "Route"),
                let method = RouteMethod(function, attribute: attribute, of: module, reporter: reporter),
                isFree(method, branches)
            {
                items.append(.route(method))
            }
        }
        return items
    }

    private static func clauses(
        _ condition: IfConfigDeclSyntax,
        module: ModuleDeclaration,
        reporter: Reporter,
        branches: [RouteConflicts.Branch],
        isFree: Check
    ) -> [Clause] {
        condition.clauses.enumerated()
            .map { index, clause in
                let branch = RouteConflicts.Branch(condition: condition.id, clause: index)
                let members = clause.elements?.as(MemberBlockItemListSyntax.self) ?? []
                return Clause(
                    condition: [clause.poundKeyword.text, clause.condition?.trimmedDescription]
                        .compactMap(\.self).joined(separator: " "),
                    items: self.items(
                        members,
                        module: module,
                        reporter: reporter,
                        branches: branches + [branch],
                        isFree: isFree
                    )
                )
            }
    }

    /// Reports declarations that use the names of generated members.
    private static func checkNames(_ members: MemberBlockItemListSyntax, _ reporter: Reporter) {
        for member in members {
            if let name = self.reservedName(member.decl) {
                reporter.report(
                    "`@Module` generates a member `\(name.text)`: rename this declaration",
                    at: name
                )
            }
        }
    }

    private static func reservedName(_ declaration: DeclSyntax) -> TokenSyntax? {
        if let named = declaration.asProtocol((any NamedDeclSyntax).self) {
            let name = named.name.text.withoutBackticks
            if name == "urls" { return named.name }
            // A method may have the name of a static property, unless it is static and has no parameters.
            let function = declaration.as(FunctionDeclSyntax.self)
            if let function, !function.isStatic || function.fullName != "\(name)()" { return nil }
            return ["url", "routes"].contains(name) ? named.name : nil
        }
        guard let variable = declaration.as(VariableDeclSyntax.self) else { return nil }
        let names = variable.bindings.lazy.compactMap {
            $0.pattern.as(IdentifierPatternSyntax.self)?.identifier
        }
        return names.first {
            ["urls"].contains($0.text) || (variable.isStatic && ["url", "routes"].contains($0.text))
        }
    }
}

#endif
