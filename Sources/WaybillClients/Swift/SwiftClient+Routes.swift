// Routes.
extension SwiftClient {
    mutating func write(_ functions: [ClientModel.Function], in name: String) {
        var scope = NameScope(.camel, reserved: Set(self.types.values).union(["self", "init", "bus"]))
        self.code.line()
        self.block("extension \(self.name) {", closing: "}") { client in
            client.code.line("/// Routes of the server.")
            client.block("public struct \(name): Sendable {", closing: "}") { client in
                client.code.line("fileprivate let bus: MessageBus")
                for function in functions { client.write(function, as: scope.claim(function.name).quoted) }
            }
        }
    }

    mutating func write(_ function: ClientModel.Function, as name: String) {
        var scope = NameScope(.camel, reserved: ["self", "options", "progress", "url", "values", "init"])
        let names = scope.claim(function.arguments.map(\.name)).map(\.quoted)
        let arguments = function.sortedArguments.map { argument in
            let type: ClientType = argument.isRequired ? argument.type : .optional(argument.type)
            return
                "\(names[argument.name]): \(self.name(of: type))\(argument.isRequired ? "" : " = nil")"
        }
        let reply = self.name(of: function.reply)
        let documentation = Self.details(of: function, names: names, errors: "- Throws:")
        self.code.line()
        self.writeDocumentation(function.documentation, more: documentation)
        guard function.isCall else {
            let effects = function.addresses.contains(where: \.hasArgument) ? " throws(RoutingError)" : ""
            self.code.list(
                arguments + ["options: Options = Options()"],
                opening: "public func \(name)(",
                closing: ")\(effects) {",
                hasLastComma: false
            )
            return self.block(closing: "}") { client in
                client.writeAddresses(function, names)
                client.writeValues(function, names)
                client.code.line(
                    "self.bus.send(options.url(url), parameters: values, headers: options.headers)"
                )
            }
        }
        let result = reply == "Void" ? "" : " -> \(reply)"
        self.code.list(
            arguments + ["options: Options = Options()"],
            opening: "public nonisolated(nonsending) func \(name)(",
            closing: ") async throws(RoutingError)\(result) {",
            hasLastComma: false
        )
        self.block(closing: "}") { $0.writeCall(function, names, closure: nil) }
        self.code.line()
        self.writeDocumentation(
            function.documentation,
            more: documentation + [
                "", "- Parameter progress: Receives each progress reply, and returns the answer.",
            ]
        )
        // The compiler warns of the parameter list `(Void)`, and accepts `(())`.
        let types = function.progress.map { progress in
            (
                progress.update == .nothing ? "()" : self.name(of: progress.update),
                self.name(of: progress.answer)
            )
        }
        let (update, answer) = types ?? ("Update", "Answer")
        self.code.list(
            arguments + ["options: Options = Options()", "progress: (\(update)) async throws -> \(answer)"],
            opening: "public nonisolated(nonsending) func \(name)"
                + (types == nil ? "<Update: Sendable, Answer: Sendable>(" : "("),
            closing: ") async throws(RoutingError)\(result) {",
            hasLastComma: false
        )
        self.block(closing: "}") { $0.writeCall(function, names, closure: "progress") }
    }

    mutating func writeCall(
        _ function: ClientModel.Function,
        _ names: ClaimedNames,
        closure: String?
    ) {
        self.writeAddresses(function, names)
        self.writeValues(function, names)
        self.code.list(
            [
                "options.url(url)", "parameters: values", "headers: options.headers",
                "timeout: options.timeout", "as: \(self.name(of: function.reply)).self",
            ] + (closure.map { [$0] } ?? []),
            opening: "return try await self.bus.route(",
            closing: ")",
            hasLastComma: false
        )
    }

    mutating func writeAddresses(_ function: ClientModel.Function, _ names: ClaimedNames) {
        let texts = function.addresses.map { self.address($0, of: function, names) }
        if texts.count <= 1 { return self.code.line("let url = \(texts.first ?? "\"\"")") }
        let conditions = function.conditions(and: ", ", always: "true") { "let \(names[$0])" }
        self.code.line("let url: String")
        for (index, text) in texts.enumerated() {
            let condition = index < conditions.count ? "if \(conditions[index]) " : ""
            self.code.line("\(index == 0 ? "" : "} else ")\(condition){")
            self.code.line("    url = \(text)")
        }
        self.code.line("}")
    }

    func address(
        _ pieces: [ClientModel.AddressPiece],
        of function: ClientModel.Function,
        _ names: ClaimedNames
    ) -> String {
        let parts = pieces.map { piece in
            switch piece {
            case .literal(let text): return text.swiftText.literalContent
            case .value(let name, let isPath):
                let value = self.text(of: names[name], function.type(of: name))
                let function = isPath ? "path" : "segment"
                return "\\(\(self.name).\(function)(\(names[name].swiftText), \(value)))"
            }
        }
        return "\(pieces.hasArgument ? "try " : "")\"\(parts.joined())\""
    }

    mutating func writeValues(_ function: ClientModel.Function, _ names: ClaimedNames) {
        let required = function.values.filter(\.isRequired)
        let others = function.values.filter { !$0.isRequired }
        let items = required.map { "\($0.name.swiftText): \(names[$0.name])" }
        self.code.list(
            items.isEmpty ? [":"] : items,
            opening: "\(others.isEmpty ? "let" : "var") values: [String: any Sendable] = [",
            closing: "]"
        )
        for argument in others {
            let name = names[argument.name]
            self.code.line("if let \(name) { values[\(argument.name.swiftText)] = \(name) }")
        }
    }

    /// Returns the expression that converts a value to text for a URL.
    func text(of value: String, _ type: ClientType) -> String {
        switch type {
        case .text, .literal: return value
        case .uuid: return "\(value).uuidString"
        case .bytes: return "\(value).base64EncodedString()"
        case .named(let name):
            if case .texts = self.declarations[name]?.kind { return "\(value).rawValue" }
            if case .integers = self.declarations[name]?.kind { return "String(\(value).rawValue)" }
            return "String(describing: \(value))"
        case .date: return "\(value).urlParameter"
        default: return "String(describing: \(value))"
        }
    }
}
