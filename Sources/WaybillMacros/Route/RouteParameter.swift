#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// A validated parameter of a method that has the attribute `@Route` or belongs to a service.
struct RouteParameter {
    /// The label of the argument, without backticks; nil if the argument has no label.
    let label: String?
    /// The name inside the method, for use in an expression.
    let identifier: String
    /// The type of the value, without specifiers and `@escaping`.
    let type: TypeSyntax
    let defaultValue: ExprSyntax?
    /// Whether the type is written with `@escaping`.
    ///
    /// If the type is an alias of a closure type, only `@escaping` shows that it is a closure.
    let isEscaping: Bool
    /// The source line of the type; nil if the type is known to be `Sendable`.
    let line: SourceLine?

    /// The name of the value in a URL.
    ///
    /// If the parameter has two names, this is the second name: `of uid` reads well in code, and `?uid=7` in
    /// a URL.
    var name: String { self.identifier.withoutBackticks }

    /// Whether the parameter is the message itself, and not a value in the message.
    var isMessage: Bool { ValueType.isMessage(self.type) }

    /// Whether the parameter sends progress replies, and is not a value in the message.
    var isProgress: Bool {
        let name =
            self.type.as(IdentifierTypeSyntax.self)?.name
            ?? self.type.as(MemberTypeSyntax.self).flatMap {
                $0.baseType.trimmedDescription == "Waybill" ? $0.name : nil
            }
        return name?.text == "ProgressReplies"
    }

    /// Whether the type contains the name of the type that sends progress replies.
    var mentionsProgress: Bool {
        self.type.tokens(viewMode: .sourceAccurate).contains { $0.text == "ProgressReplies" }
    }

    /// Whether the parameter is a value in the message.
    var isValue: Bool { !self.isMessage && !self.isProgress }

    /// Whether a passed nil or empty array possibly differs from a missing value, which has the default.
    ///
    /// The macro cannot see whether the name of a type is an alias of an Optional or of an array.
    var needsEmptyValue: Bool {
        guard let value = self.defaultValue, !value.is(NilLiteralExprSyntax.self) else { return false }
        if ValueType.isArray(self.type) { return value.as(ArrayExprSyntax.self)?.elements.isEmpty != true }
        return ValueType.isOptional(self.type) || !ValueType.isKnownSendable(self.type)
    }

    /// Creates a parameter, or reports the problem and returns nil when a message cannot contain the value.
    init?(_ parameter: FunctionParameterSyntax, of owner: String, _ reporter: Reporter) {
        let identifier = (parameter.secondName ?? parameter.firstName).text
        guard identifier != "_" else {
            reporter.report(
                "the parameter needs a name, by which the URL passes its value",
                at: parameter.secondName ?? parameter.firstName
            )
            return nil
        }
        guard Self.check(parameter, reporter) else { return nil }
        self.label = parameter.firstName.text == "_" ? nil : parameter.firstName.text.withoutBackticks
        self.identifier = identifier.withoutBackticks.asIdentifier
        self.type = ValueType.plain(parameter.type, in: owner)
        guard !ValueType.isOptionalMessage(self.type) else {
            reporter.report(
                "the message is never nil, so its parameter cannot be an Optional",
                at: parameter.type,
                fix: .replace(parameter.type, with: "Message" as TypeSyntax, "write `Message`")
            )
            return nil
        }
        let attributes = parameter.type.as(AttributedTypeSyntax.self)?.attributes
        self.isEscaping = attributes?.first(named: "escaping") != nil
        self.line = reporter.line(ofCrossing: parameter.type)
        self.defaultValue = parameter.defaultValue.map { ValueType.withoutSelf($0.value.trimmed, owner) }
    }

    private static func check(_ parameter: FunctionParameterSyntax, _ reporter: Reporter) -> Bool {
        if let dots = parameter.ellipsis {
            let list = ArrayTypeSyntax(element: parameter.type.trimmed)
            let new = parameter.with(\.type, TypeSyntax(list)).with(\.ellipsis, nil)
            reporter.report(
                "a route cannot have a variadic parameter: use an array",
                at: dots,
                fix: .replace(parameter, with: new, "make it an array")
            )
            return false
        }
        let words = parameter.type.as(AttributedTypeSyntax.self)
        for specifier in words?.specifiers ?? [] {
            let word = specifier.trimmedDescription
            guard word == "inout" || word == "isolated" else { continue }
            let reason =
                word == "inout"
                ? "a value from a message cannot be `inout`"
                : "a route runs on the loop of its module, so a parameter cannot be `isolated`"
            reporter.report(
                reason,
                at: specifier,
                fix: word == "inout"
                    ? .replace(
                        parameter.type,
                        with: ValueType.withoutSpecifiers(parameter.type),
                        "remove `inout`"
                    ) : nil
            )
            return false
        }
        if let attribute = words?.attributes.first(named: "autoclosure") {
            reporter.report(
                "a message contains values, so a parameter cannot be an autoclosure",
                at: attribute
            )
            return false
        }
        if let some = ValueType.opaque(in: Syntax(parameter.type)) {
            reporter.report("a route's parameter must have one concrete type, not `some`", at: some)
            return false
        }
        return Self.checkClosure(parameter.type, reporter)
    }

    /// Checks that a closure is `@Sendable`, because the caller and the module may run on different loops.
    private static func checkClosure(_ type: TypeSyntax, _ reporter: Reporter) -> Bool {
        guard let function = ValueType.function(type), !ValueType.isSendable(type) else { return true }
        let attributed = type.as(AttributedTypeSyntax.self)
        let isEscaping = attributed?.attributes.first(named: "escaping") != nil
        let new: TypeSyntax = "\(raw: isEscaping ? "" : "@escaping ")@Sendable \(type.trimmed)"
        reporter.report(
            "a closure that is passed in a message must be `@Sendable`",
            at: function,
            fix: .replace(type, with: new, "add `@Sendable`")
        )
        return false
    }
}

#endif
