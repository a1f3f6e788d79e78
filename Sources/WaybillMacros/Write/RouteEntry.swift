#if Macros

internal import SwiftSyntax
internal import WaybillRouting

/// The entry of a route in the list of a module's routes, with the code that calls the method.
struct RouteEntry {
    let method: RouteMethod
    let module: String

    /// The statement that adds the entry to the list.
    ///
    /// The compiler reports a reply that is not `Sendable` at the first line of the initializer. A source
    /// location directive maps that line to the reply in the source. The closure is declared before it, so
    /// that the directive does not change the closure's lines.
    var statement: String {
        let type = "Waybill.ModuleRoute<\(self.module)>"
        guard let line = self.method.replyLine else {
            let code = """
                \(type)(
                    \(self.description.joined(separator: ",\n    "))
                ) { module, \(self.call.message) -> \(self.method.reply) in
                    \(self.call.code)
                }\(self.failures)
                """
            return "routes.append(\n    \(code.indented(by: 4))\n)"
        }
        let parameters = "module: isolated \(self.module), \(self.call.message): Waybill.Message"
        let code = """
            let body = { @Sendable (\(parameters)) -> \(self.method.reply) in
                \(self.call.code)
            }
            \(line.mapping("routes.append(\(type)(\n    \((self.description + ["body"]).joined(separator: ",\n    "))\n)\(self.failures))"))
            """
        return "do {\n    \(code.indented(by: 4))\n}"
    }

    /// The call that adds the type of a typed error.
    private var failures: String { self.method.failure.map { "\n.throwing(\($0).self)" } ?? "" }

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
