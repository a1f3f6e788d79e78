#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder

/// A parameter of a method with `@Route` on it, checked.
struct RouteParameter {
    /// The label of the argument, or nil.
    let label: String?
    /// What it is called inside the method, as it stands in an expression.
    let identifier: String
    /// The type of the value, without what says how it is passed.
    let type: TypeSyntax
    let defaultValue: ExprSyntax?
    /// Whether it says `@escaping`, as an alias of a closure's type has to.
    let isEscaping: Bool
    /// Where the type is written; nil if it is known to be `Sendable`.
    let line: SourceLine?

    /// What the value is called in a URL.
    ///
    /// Of two names it is the second: `of uid` reads well in code, and `?uid=7` in a URL.
    var name: String { self.identifier.withoutBackticks }

    /// Whether it is the message itself, and not something that is read from it.
    var isMessage: Bool { ["Message", "Waybill.Message"].contains(self.type.trimmedDescription) }

    /// Whether a value is an Optional or an array with a default value: nil and an empty array are something
    /// else then.
    var isDefaultedCollection: Bool {
        guard let value = self.defaultValue else { return false }
        if ValueType.isOptional(self.type) { return !value.is(NilLiteralExprSyntax.self) }
        return ValueType.isArray(self.type) && value.as(ArrayExprSyntax.self)?.elements.isEmpty != true
    }

    /// Nil if no message can bring such a value, and the reason is reported.
    init?(_ parameter: FunctionParameterSyntax, of owner: String, _ reporter: Reporter) {
        let identifier = (parameter.secondName ?? parameter.firstName).text
        guard identifier != "_" else {
            reporter.report(
                "the parameter needs a name, by which it is found in the URL",
                at: parameter.secondName ?? parameter.firstName
            )
            return nil
        }
        guard Self.check(parameter, reporter) else { return nil }
        self.label = parameter.firstName.text == "_" ? nil : parameter.firstName.text.asLabel
        self.identifier = identifier.withoutBackticks.asIdentifier
        self.type = ValueType.plain(parameter.type, in: owner)
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
                "a route takes many values as an array, and not one by one",
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
                ? "what came with a message cannot be changed in place"
                : "a route runs on its module's loop, and nowhere else"
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
            reporter.report("a message brings values, and not code that makes them", at: attribute)
            return false
        }
        if let some = ValueType.opaque(in: Syntax(parameter.type)) {
            reporter.report("a route's parameters have one type each, and no `some`", at: some)
            return false
        }
        return Self.checkClosure(parameter.type, reporter)
    }

    /// A closure crosses from its caller to the module.
    private static func checkClosure(_ type: TypeSyntax, _ reporter: Reporter) -> Bool {
        guard let function = ValueType.function(type), !ValueType.isSendable(type) else { return true }
        let attributed = type.as(AttributedTypeSyntax.self)
        let isEscaping = attributed?.attributes.first(named: "escaping") != nil
        let new: TypeSyntax = "\(raw: isEscaping ? "" : "@escaping ")@Sendable \(type.trimmed)"
        reporter.report(
            "a closure that comes with a message has to be `@Sendable`",
            at: function,
            fix: .replace(type, with: new, "add `@Sendable`")
        )
        return false
    }
}

#endif
