#if Macros

internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// Generates the members that make an actor a module.
struct ModuleWriter {
    let module: ModuleDeclaration
    let routes: ModuleRoutes

    var members: [DeclSyntax] {
        var members: [DeclSyntax] = []
        let access = self.module.access
        switch self.module.context {
        case .written:
            members.append("\(raw: access)nonisolated let context = Waybill.ModuleContext.current")
        case .declared: break
        case .taken:
            // The actor uses the name `context` for another property, so the generated property has another
            // name.
            members.append(
                """
                @_implements(Waybill.Module, context)
                \(raw: access)nonisolated let moduleContext = Waybill.ModuleContext.current
                """
            )
        }
        members.append(
            """
            \(raw: access)static var url: String {
                \(raw: self.module.url.asLiteral)
            }
            """
        )
        members.append(
            """
            \(raw: access)static var routes: [Waybill.ModuleRoute<\(raw: self.module.name)>] {
                \(raw: self.list.indented(by: 4))
            }
            """
        )
        if let services = ServiceProvision(module: self.module).member { members.append(services) }
        let builders = self.builders(self.routes.items).map { "\n    \($0.indented(by: 4))" }
        members.append("\(raw: access)enum urls {\(raw: builders.joined(separator: "\n"))\n}")
        return members
    }

    /// The code that builds the list of routes, with one statement for each route.
    ///
    /// A statement can be inside of an `#if`, which an element of an array literal cannot. Compile time grows
    /// linearly with the number of statements, and the compiler reports an error at the statement of the
    /// route.
    private var list: String {
        let type = "[Waybill.ModuleRoute<\(self.module.name)>]"
        guard !self.routes.items.isEmpty else { return "[]" }
        let count = self.routes.items.count
        // If no `#if` condition is true, no other statement modifies the variable. The compiler would then
        // warn about a variable that is never modified.
        let reserve = self.routes.hasUnconditional ? [] : ["routes.reserveCapacity(\(count))"]
        let statements = self.statements(self.routes.items)
        let lines = ["var routes: \(type) = []"] + reserve + statements + ["return routes"]
        return lines.joined(separator: "\n")
    }

    private func statements(_ items: [ModuleRoutes.Item]) -> [String] {
        items.flatMap { item in
            switch item {
            case .route(let method): [self.statement(method)]
            case .conditional(let clauses): Self.conditional(clauses, self.statements)
            }
        }
    }

    private func statement(_ method: RouteMethod) -> String {
        let append = RouteEntry(method: method, module: self.module.name).statement
        guard !method.versions.isEmpty else { return append }
        return "if #available(\(method.versions)) {\n    \(append.indented(by: 4))\n}"
    }

    private func builders(_ items: [ModuleRoutes.Item]) -> [String] {
        items.flatMap { item in
            switch item {
            case .route(let method): [URLBuilder(method).declaration].compactMap(\.self)
            case .conditional(let clauses): [Self.conditional(clauses, self.builders).joined(separator: "\n")]
            }
        }
    }

    private static func conditional(
        _ clauses: [ModuleRoutes.Clause],
        _ body: ([ModuleRoutes.Item]) -> [String]
    ) -> [String] {
        clauses.flatMap { [$0.condition] + body($0.items) } + ["#endif"]
    }
}

#endif
