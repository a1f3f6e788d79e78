#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxMacros
internal import WaybillRouting

/// A validated actor with the attribute `@Module`.
struct ModuleDeclaration {
    let actor: ActorDeclSyntax
    /// The base URL of the module's routes, without a trailing slash.
    let url: String
    /// The access modifier of the generated declarations, with a trailing space.
    let access: String
    let context: Context

    /// Creates a declaration, or reports the problem and returns nil when the declaration cannot be a module.
    init?(
        _ declaration: some DeclGroupSyntax,
        attribute: AttributeSyntax,
        reporter: Reporter,
        lexicalContext: [Syntax]
    ) {
        guard let actor = declaration.as(ActorDeclSyntax.self) else {
            Self.reportKind(declaration, attribute: attribute, reporter: reporter)
            return nil
        }
        self.actor = actor
        let isPlain = Self.checkPlain(actor, reporter: reporter, lexicalContext: lexicalContext)
        let url = Self.url(in: attribute, of: actor, reporter: reporter)
        let context = Self.context(of: actor, reporter: reporter)
        guard let url, let context, isPlain else { return nil }
        self.url = url
        self.access = Self.access(of: actor, in: lexicalContext)
        self.context = context
    }

    var name: String { self.actor.name.text }

    /// Returns the access modifier of an actor or, if it has none, of the extension that contains it.
    private static func access(of actor: ActorDeclSyntax, in lexicalContext: [Syntax]) -> String {
        let levels: Set = ["public", "package", "internal", "fileprivate", "private"]
        let outer = lexicalContext.first?.as(ExtensionDeclSyntax.self)?.modifiers
        let words = [actor.modifiers, outer ?? []].lazy.flatMap { $0.map(\.name.text) }
        guard let level = words.first(where: levels.contains) else { return "" }
        return level == "public" || level == "package" ? "\(level) " : ""
    }

    var availability: [String] { self.actor.attributes.availability }

    /// Who declares the property `context`, which binds the actor to its loop.
    enum Context {
        /// The macro generates the property.
        case written
        /// The actor declares the property.
        case declared
        /// The actor uses the name `context` for an unrelated property or method.
        case taken
    }

    /// Returns who declares the property `context`, or reports the problem and returns nil when the source
    /// does not show it.
    private static func context(of actor: ActorDeclSyntax, reporter: Reporter) -> Context? {
        guard let member = actor.memberBlock.members.map(\.decl).first(where: self.usesContext) else {
            return .written
        }
        if member.is(IfConfigDeclSyntax.self) {
            reporter.report(
                "`@Module` cannot see whether `context` is declared: move the declaration out of `#if`",
                at: member
            )
            return nil
        }
        guard let property = member.as(VariableDeclSyntax.self),
            let binding = property.bindings.first(where: { $0.pattern.names.contains("context") })
        else { return .taken }
        if let type = binding.typeAnnotation?.type {
            let isContext = ["ModuleContext", "Waybill.ModuleContext"].contains(type.trimmedDescription)
            return isContext ? .declared : .taken
        }
        let words = binding.initializer?.value.tokens(viewMode: .sourceAccurate).map(\.text) ?? []
        if words.first == "ModuleContext" || words.starts(with: ["Waybill", ".", "ModuleContext"]) {
            return .declared
        }
        // A `nonisolated` property is possibly the context of the module.
        guard property.modifiers.contains(where: { $0.name.text == "nonisolated" }) else { return .taken }
        reporter.report(
            "write the type of `context`: `@Module` cannot see whether it is `ModuleContext`",
            at: binding.pattern
        )
        return nil
    }

    /// Returns whether a member of an actor has the name of the generated property `context`.
    private static func usesContext(_ member: DeclSyntax) -> Bool {
        if let property = member.as(VariableDeclSyntax.self) {
            return !property.isStatic && property.names.contains("context")
        }
        if let method = member.as(FunctionDeclSyntax.self) {
            return method.fullName == "context()" && !method.isStatic
        }
        let clauses = member.as(IfConfigDeclSyntax.self)?.clauses ?? []
        return clauses.contains { clause in
            clause.elements?.as(MemberBlockItemListSyntax.self)?.contains { self.usesContext($0.decl) }
                ?? false
        }
    }

    private static func url(
        in attribute: AttributeSyntax,
        of actor: ActorDeclSyntax,
        reporter: Reporter
    ) -> String? {
        BaseURL.module.read(in: attribute, of: actor.name.text, reporter: reporter).map {
            RoutePath.trimmed($0.pattern.text)
        }
    }

    private static func checkPlain(
        _ actor: ActorDeclSyntax,
        reporter: Reporter,
        lexicalContext: [Syntax]
    ) -> Bool {
        if let modifier = actor.modifiers.first(where: { $0.name.text == "distributed" }) {
            reporter.report(
                "a module cannot be a distributed actor: its callers use URLs",
                at: modifier
            )
            return false
        }
        if let generics = actor.genericParameterClause {
            reporter.report(
                "a module cannot be generic: each type argument would register the same routes again",
                at: generics
            )
            return false
        }
        let outer = lexicalContext.lazy.compactMap { $0.asProtocol((any WithGenericParametersSyntax).self) }
        if outer.contains(where: { $0.genericParameterClause != nil }) {
            reporter.report(
                "a module cannot be declared inside a generic type or function: each type argument would register the same routes again",
                at: actor.name
            )
            return false
        }
        return true
    }

    private static func reportKind(
        _ declaration: some DeclGroupSyntax,
        attribute: AttributeSyntax,
        reporter: Reporter
    ) {
        let keyword = declaration.introducer
        guard declaration.is(ClassDeclSyntax.self) || declaration.is(StructDeclSyntax.self) else {
            reporter.report("`@Module` can be attached only to an actor", at: attribute)
            return
        }
        reporter.report(
            "a module must be an actor, so that it can run on the loop of its bus",
            at: keyword,
            fix: .replace(keyword, with: TokenSyntax.keyword(.actor), "change it to an actor")
        )
    }
}

#endif
