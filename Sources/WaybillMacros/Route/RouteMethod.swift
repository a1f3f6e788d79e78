#if Macros

internal import SwiftDiagnostics
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import WaybillRouting

/// A validated method with the attribute `@Route`.
struct RouteMethod {
    let function: FunctionDeclSyntax
    let parameters: [RouteParameter]
    /// The return type.
    let reply: String
    /// The source line of the return type; nil if the type is known to be `Sendable`.
    let replyLine: SourceLine?
    /// The error type in the method's `throws` clause, if a module can declare this type; otherwise nil.
    let failure: String?
    let pattern: RoutePattern
    /// The source of the pattern, for diagnostics.
    let place: Syntax

    /// Creates a route, or reports the problem and returns nil when the method cannot be a route.
    init?(
        _ function: FunctionDeclSyntax,
        attribute: AttributeSyntax,
        of module: ModuleDeclaration,
        reporter: Reporter
    ) {
        self.function = function
        let isPlain = Self.checkPlain(function, reporter)
        let list = function.signature.parameterClause.parameters
        self.parameters = list.compactMap { RouteParameter($0, of: module.name, reporter) }
        let output = function.signature.returnClause?.type
        self.reply = output.map { ValueType.plain($0, in: module.name).trimmedDescription } ?? "Void"
        self.replyLine = output.flatMap(reporter.line(ofCrossing:))
        let failure = function.signature.effectSpecifiers?.throwsClause?.type?.trimmedDescription
        self.failure = failure.flatMap { Self.undeclared.contains($0) ? nil : $0 }
        guard
            let (pattern, place) = Self.pattern(
                function,
                attribute: attribute,
                module: module,
                reporter: reporter
            )
        else { return nil }
        self.pattern = pattern
        self.place = place
        guard isPlain, self.parameters.count == list.count, self.checkPath(reporter),
            self.checkProgress(reporter)
        else { return nil }
    }

    /// The error types in a `throws` clause that do not count as errors that a module declares.
    private static let undeclared: Set = ["Never", "any Error", "any Swift.Error", "RoutingError"]

    /// The name in source code, with the backticks that the source code has.
    var identifier: String { self.function.name.text }
    var name: String { self.identifier.withoutBackticks }

    /// Whether the module must await the method even if it is not async, because the method is isolated to a
    /// global actor.
    var isElsewhere: Bool {
        self.function.attributes.contains {
            $0.as(AttributeSyntax.self)?.plainName.hasSuffix("Actor") == true
        }
    }

    var takesMessage: Bool { self.parameters.contains { $0.isMessage } }

    /// The parameter that sends progress replies; nil if the method does not declare their types.
    var progress: RouteParameter? { self.parameters.first(where: \.isProgress) }

    /// The parameters of the path whose values the method does not receive as arguments.
    var unread: [RoutePattern.Parameter] {
        let names = Set(self.parameters.lazy.filter(\.isValue).map(\.name))
        // The value of `**` has no name, so no parameter of a method can have the same name.
        return self.pattern.parameters.filter { $0.name != "**" && !names.contains($0.name) }
    }

    private static func pattern(
        _ function: FunctionDeclSyntax,
        attribute: AttributeSyntax,
        module: ModuleDeclaration,
        reporter: Reporter
    ) -> (RoutePattern, Syntax)? {
        var path = RoutePath.path(ofMethod: function.name.text.withoutBackticks)
        var place = Syntax(function.name)
        if let argument = attribute.firstArgument {
            place = Syntax(argument)
            guard let text = argument.literalText else {
                reporter.report(
                    "the path must be a string literal without interpolation, because the compiler checks it",
                    at: argument
                )
                return nil
            }
            path = text
        }
        let pattern: RoutePattern
        do throws(RoutingError) {
            pattern = try RoutePattern(RoutePath.pattern(path, below: module.url))
        } catch {
            reporter.report(error.message, at: place)
            return nil
        }
        for (sign, reason) in [
            ("?", "the parameters of the method are read from the query"),
            ("#", "a fragment is a return URL"),
        ] as [(Unicode.Scalar, String)] where path.unicodeScalars.contains(sign) && pattern.hasLiteral(sign) {
            reporter.report(
                "a path ends before `\(sign)`, because \(reason): remove `\(sign)` and the text after it",
                at: place
            )
            return nil
        }
        return (pattern, place)
    }

    /// Checks that the method reads every value that the path captures.
    private func checkPath(_ reporter: Reporter) -> Bool {
        guard !self.takesMessage, let unread = self.unread.first else { return true }
        reporter.report(
            "the path has the parameter `\(unread.name)`, but the method `\(self.name)` has no parameter of that name",
            at: self.place,
            fix: self.adding(unread)
        )
        return false
    }

    /// Checks that the method can send the progress replies that it declares.
    private func checkProgress(_ reporter: Reporter) -> Bool {
        let list = Array(zip(self.parameters, self.function.signature.parameterClause.parameters))
        if let (_, value) = list.first(where: { $0.0.isValue && $0.0.mentionsProgress }) {
            reporter.report(
                "a message contains no progress replies: write the type `ProgressReplies<Update, Answer>` alone",
                at: value.type
            )
            return false
        }
        let declared = list.filter(\.0.isProgress).map(\.1)
        if declared.count > 1 {
            reporter.report(
                "a route has one type of progress replies: use one parameter, with an enumeration as `Update`",
                at: declared[1].type
            )
            return false
        }
        guard let type = declared.first?.type, !self.function.isAsync else { return true }
        let effects = self.function.signature.effectSpecifiers ?? FunctionEffectSpecifiersSyntax()
        let new = effects.with(\.asyncSpecifier, .keyword(.async, trailingTrivia: .space))
        let signature = self.function.signature.with(\.effectSpecifiers, new)
        reporter.report(
            "each progress reply waits for the caller, so the method must be `async`",
            at: type,
            fix: .replace(self.function.signature, with: signature, "add `async`")
        )
        return false
    }

    private func adding(_ parameter: RoutePattern.Parameter) -> FixIt {
        let clause = self.function.signature.parameterClause
        var list = clause.parameters
        if let last = list.indices.last {
            list[last] = list[last].with(\.trailingComma, .commaToken(trailingTrivia: .space))
        }
        list.append("\(raw: parameter.name): \(raw: Self.type(of: parameter))")
        return .replace(clause, with: clause.with(\.parameters, list), "add a parameter `\(parameter.name)`")
    }

    /// Returns the Swift type of a captured value.
    static func type(of parameter: RoutePattern.Parameter) -> String {
        switch parameter.type {
        case "int": "Int"
        case "double": "Double"
        case "bool": "Bool"
        default: "String"
        }
    }
}

#endif
