#if Macros

internal import SwiftSyntax

/// Conversions of types in source code to the types that the generated code uses for values.
enum ValueType {
    /// Returns a type without specifiers and `@escaping`, in which the actor's name replaces `Self`.
    static func plain(_ type: TypeSyntax, in owner: String) -> TypeSyntax {
        var type = self.withoutSpecifiers(type).trimmed
        if let attributed = type.as(AttributedTypeSyntax.self) {
            let kept = attributed.attributes.filter {
                $0.as(AttributeSyntax.self)?.plainName != "escaping"
            }
            type = kept.isEmpty ? attributed.baseType : TypeSyntax(attributed.with(\.attributes, kept))
        }
        if let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            type = TypeSyntax(OptionalTypeSyntax(wrappedType: unwrapped.wrappedType))
        }
        return self.withoutSelf(type.trimmed, owner)
    }

    /// Returns a type without the specifiers of a parameter, such as `sending`.
    ///
    /// `nonisolated(nonsending)` belongs to the type of a function.
    static func withoutSpecifiers(_ type: TypeSyntax) -> TypeSyntax {
        guard let attributed = type.as(AttributedTypeSyntax.self), !attributed.specifiers.isEmpty else {
            return type
        }
        let kept = attributed.specifiers.filter { $0.is(NonisolatedTypeSpecifierSyntax.self) }
        if attributed.attributes.isEmpty, kept.isEmpty { return attributed.baseType }
        return TypeSyntax(attributed.with(\.specifiers, kept))
    }

    /// Returns code in which the actor's name replaces `Self`, because `Self` is a different type inside
    /// `urls`.
    static func withoutSelf<Node: SyntaxProtocol>(_ node: Node, _ owner: String) -> Node {
        SelfRewriter(owner: owner).rewrite(node).cast(Node.self)
    }

    /// Returns the optional type for a value that may be missing.
    static func optional(_ type: TypeSyntax) -> String {
        let text = type.trimmedDescription
        if self.isOptional(type) { return text }
        return self.isSimple(type) ? "\(text)?" : "(\(text))?"
    }

    /// Returns the type as an expression, such as `String.self` or `(any Shape).self`.
    static func metatype(_ type: TypeSyntax) -> String {
        let text = type.trimmedDescription
        if text == "()" { return "Void.self" }
        return self.isSimple(type) || type.is(OptionalTypeSyntax.self) ? "\(text).self" : "(\(text)).self"
    }

    /// Returns whether a suffix such as `?` after the type applies to the whole type without parentheses.
    private static func isSimple(_ type: TypeSyntax) -> Bool {
        type.is(IdentifierTypeSyntax.self) || type.is(MemberTypeSyntax.self) || type.is(ArrayTypeSyntax.self)
            || type.is(DictionaryTypeSyntax.self) || type.is(TupleTypeSyntax.self)
    }

    /// Returns whether a type is written as an array.
    ///
    /// The macro cannot see whether an alias is an array.
    static func isArray(_ type: TypeSyntax) -> Bool {
        if type.is(ArrayTypeSyntax.self) { return true }
        return type.as(IdentifierTypeSyntax.self).map { $0.name.text == "Array" } ?? false
    }

    static func isOptional(_ type: TypeSyntax) -> Bool {
        self.wrapped(type) != nil
    }

    /// Returns the wrapped type of an Optional; nil if the type is not written as an Optional.
    private static func wrapped(_ type: TypeSyntax) -> TypeSyntax? {
        if let optional = type.as(OptionalTypeSyntax.self) { return optional.wrappedType }
        guard let named = type.as(IdentifierTypeSyntax.self), named.name.text == "Optional" else {
            return nil
        }
        return named.genericArgumentClause?.arguments.first?.argument.as(TypeSyntax.self)
    }

    static func isMessage(_ type: TypeSyntax) -> Bool {
        if let inner = self.inParentheses(type) { return self.isMessage(inner) }
        return ["Message", "Waybill.Message"].contains(type.trimmedDescription)
    }

    static func isOptionalMessage(_ type: TypeSyntax) -> Bool {
        if let inner = self.inParentheses(type) { return self.isOptionalMessage(inner) }
        return self.wrapped(type).map(self.isMessage) ?? false
    }

    /// Returns the type inside of parentheses; nil if the type is not in parentheses.
    private static func inParentheses(_ type: TypeSyntax) -> TypeSyntax? {
        guard let elements = type.as(TupleTypeSyntax.self)?.elements, elements.count == 1 else { return nil }
        return elements.first?.type
    }

    /// Returns whether a type is an existential, or a name that is possibly an alias of one.
    static func isPossiblyExistential(_ type: TypeSyntax) -> Bool {
        if let inner = self.inParentheses(type) { return self.isPossiblyExistential(inner) }
        if type.is(SomeOrAnyTypeSyntax.self) || type.is(CompositionTypeSyntax.self) { return true }
        return (type.is(IdentifierTypeSyntax.self) || type.is(MemberTypeSyntax.self))
            && !self.isOptional(type) && !self.isArray(type) && !self.isKnownSendable(type)
    }

    /// Returns the function type inside of attributes and parentheses; nil if the type is not a function.
    static func function(_ type: TypeSyntax) -> FunctionTypeSyntax? {
        if let function = type.as(FunctionTypeSyntax.self) { return function }
        if let attributed = type.as(AttributedTypeSyntax.self) { return self.function(attributed.baseType) }
        if let inner = self.inParentheses(type) { return self.function(inner) }
        return nil
    }

    /// Returns whether a function type is `Sendable`, by `@Sendable` or because it is isolated to a global
    /// actor.
    static func isSendable(_ type: TypeSyntax) -> Bool {
        if let attributed = type.as(AttributedTypeSyntax.self) {
            let names = attributed.attributes.compactMap { $0.as(AttributeSyntax.self)?.plainName }
            return names.contains { $0 == "Sendable" || $0.hasSuffix("Actor") }
                || self.isSendable(attributed.baseType)
        }
        if let inner = self.inParentheses(type) { return self.isSendable(inner) }
        return false
    }

    /// Returns whether a type is a `Sendable` type of the standard library, or consists only of such types.
    static func isKnownSendable(_ type: TypeSyntax) -> Bool {
        if let attributed = type.as(AttributedTypeSyntax.self) {
            return self.isSendable(type) || self.isKnownSendable(attributed.baseType)
        }
        if let array = type.as(ArrayTypeSyntax.self) { return self.isKnownSendable(array.element) }
        if let optional = type.as(OptionalTypeSyntax.self) {
            return self.isKnownSendable(optional.wrappedType)
        }
        if let dictionary = type.as(DictionaryTypeSyntax.self) {
            return self.isKnownSendable(dictionary.key) && self.isKnownSendable(dictionary.value)
        }
        if let tuple = type.as(TupleTypeSyntax.self) {
            return tuple.elements.allSatisfy { self.isKnownSendable($0.type) }
        }
        if let any = type.as(SomeOrAnyTypeSyntax.self) {
            return any.constraint.trimmedDescription == "Sendable"
        }
        return Self.sendableNames.contains(type.trimmedDescription)
    }

    private static let sendableNames: Set<String> = [
        "Bool", "Character", "Double", "Duration", "Float", "Int", "Int8", "Int16", "Int32", "Int64",
        "Message",
        "Never", "String", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Void", "Waybill.Message",
    ]

    /// Returns the first keyword `some` in a type; nil if the type contains none.
    static func opaque(in node: Syntax) -> TokenSyntax? {
        if let type = node.as(SomeOrAnyTypeSyntax.self), type.someOrAnySpecifier.tokenKind == .keyword(.some)
        {
            return type.someOrAnySpecifier
        }
        return node.children(viewMode: .sourceAccurate).lazy.compactMap { self.opaque(in: $0) }.first
    }
}

/// A rewriter that replaces `Self` with the name of the type.
private final class SelfRewriter: SyntaxRewriter {
    private let owner: String

    init(owner: String) {
        self.owner = owner
        super.init()
    }

    override func visit(_ token: TokenSyntax) -> TokenSyntax {
        token.tokenKind == .keyword(.Self) ? token.with(\.tokenKind, .identifier(self.owner)) : token
    }
}

#endif
