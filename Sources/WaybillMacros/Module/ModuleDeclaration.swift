#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxMacros
internal import WaybillRouting

/// An actor with `@Module` on it, checked.
struct ModuleDeclaration {
    let actor: ActorDeclSyntax
    /// The URL that its routes are below, without a slash at the end.
    let url: String

    /// Nil if it cannot be a module, and the reason is reported.
    init?(
        _ declaration: some DeclGroupSyntax,
        _ attribute: AttributeSyntax,
        _ reporter: Reporter,
        _ lexicalContext: [Syntax]
    ) {
        guard let actor = declaration.as(ActorDeclSyntax.self) else {
            Self.reportKind(declaration, attribute, reporter)
            return nil
        }
        self.actor = actor
        let isPlain = Self.checkPlain(actor, reporter, lexicalContext)
        let url = Self.url(in: attribute, of: actor, reporter: reporter)
        guard let url, isPlain else { return nil }
        self.url = url
    }

    var name: String { self.actor.name.text }

    /// The access of what the macro adds, with a space behind it.
    var access: String {
        let words = self.actor.modifiers.map(\.name.text)
        return words.first { $0 == "public" || $0 == "package" }.map { "\($0) " } ?? ""
    }

    var availability: [String] { self.actor.attributes.availability }

    /// How the actor says where it lives.
    enum Context {
        /// The macro writes a property `context`.
        case written
        /// The actor has that property itself.
        case declared
        /// The actor has a property of that name for something else.
        case taken
    }

    /// How the actor says where it lives.
    var context: Context {
        let property = self.actor.memberBlock.members.lazy.compactMap { $0.decl.as(VariableDeclSyntax.self) }
            .first { $0.names.contains("context") }
        guard let property else { return .written }
        return property.bindings.trimmedDescription.contains("ModuleContext") ? .declared : .taken
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
        _ reporter: Reporter,
        _ lexicalContext: [Syntax]
    ) -> Bool {
        if let modifier = actor.modifiers.first(where: { $0.name.text == "distributed" }) {
            reporter.report(
                "a module is reached by URLs, and cannot be a distributed actor too",
                at: modifier
            )
            return false
        }
        if let generics = actor.genericParameterClause {
            reporter.report(
                "a module cannot be generic: for each type it would have the same routes once more",
                at: generics
            )
            return false
        }
        let outer = lexicalContext.lazy.compactMap { $0.asProtocol((any WithGenericParametersSyntax).self) }
        if outer.contains(where: { $0.genericParameterClause != nil }) {
            reporter.report(
                "a module cannot be inside of something generic: for each type it would have the same routes once more",
                at: actor.name
            )
            return false
        }
        return true
    }

    private static func reportKind(
        _ declaration: some DeclGroupSyntax,
        _ attribute: AttributeSyntax,
        _ reporter: Reporter
    ) {
        let keyword = declaration.introducer
        guard declaration.is(ClassDeclSyntax.self) || declaration.is(StructDeclSyntax.self) else {
            reporter.report("`@Module` stands on an actor", at: attribute)
            return
        }
        reporter.report(
            "a module is an actor, so that it runs on the loop of its bus",
            at: keyword,
            fix: .replace(keyword, with: TokenSyntax.keyword(.actor), "change it to an actor")
        )
    }
}

#endif
