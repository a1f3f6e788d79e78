#if Macros

internal import SwiftSyntax
internal import WaybillRouting

/// The code for a route in the list of a module's routes, with the closure that calls the method.
struct RouteEntry {
    let method: RouteMethod
    let module: String

    /// The statement that adds the route to the list.
    ///
    /// The compiler reports a reply type that is not `Sendable` at the first line of the initializer. A
    /// `#sourceLocation` directive maps that line to the reply type in the source. The closure is declared
    /// before the initializer, so that the directive does not change the line numbers of the closure.
    var statement: String {
        let type = "Waybill.ModuleRoute<\(self.module)>"
        guard let line = self.method.replyLine else {
            let code = """
                \(type)(
                    \(self.description.joined(separator: ",\n    "))
                ) { \(MethodCall.module), \(self.call.message) -> \(self.method.reply) in
                    \(self.call.code)
                }\(self.declarations)
                """
            return "routes.append(\n    \(code.indented(by: 4))\n)"
        }
        let parameters =
            "\(MethodCall.module): isolated \(self.module), \(self.call.message): Waybill.Message"
        let code = """
            let waybillBody = { @Sendable (\(parameters)) -> \(self.method.reply) in
                \(self.call.code)
            }
            \(line.mapping("routes.append(\(type)(\n    \((self.description + ["waybillBody"]).joined(separator: ",\n    "))\n)\(self.declarations))"))
            """
        return "do {\n    \(code.indented(by: 4))\n}"
    }

    /// The calls that add the error type of the method's `throws` clause, and the types of the progress
    /// replies.
    private var declarations: String {
        let failure = self.method.failure.map { "\n.throwing(\($0).self)" } ?? ""
        let progress = self.method.progress.map { "\n.reporting(\(ValueType.metatype($0.type)))" } ?? ""
        return failure + progress
    }

    private var call: MethodCall {
        MethodCall(
            function: self.method.function,
            parameters: self.method.parameters,
            isElsewhere: self.method.isElsewhere
        )
    }

    private var description: [String] {
        var lines = [self.method.pattern.text.asLiteral, "action: \(self.method.name.asLiteral)"]
        if let parameters = self.call.descriptions { lines.append(parameters) }
        if self.method.takesMessage { lines.append("takesMessage: true") }
        if !self.method.documentation.isEmpty {
            lines.append("documentation: \(self.method.documentation.asLiteral)")
        }
        return lines
    }
}

#endif
