internal import WaybillDocuments

// Routes.
extension TypeScriptClient {
    mutating func write(_ functions: [ClientModel.Function], in name: String) {
        var scope = NameScope(.camel, reserved: ["constructor", "transport", "then"])
        self.code.line()
        self.block("export class \(name) {", closing: "}") { client in
            client.code.line("constructor(private readonly transport: Transport) {}")
            for function in functions { client.write(function, as: scope.claim(function.name)) }
        }
    }

    mutating func write(_ function: ClientModel.Function, as name: String) {
        self.code.line()
        let details = Self.details(of: function, errors: "@throws")
        self.writeDocumentation(function.documentation, more: details)
        let arguments = function.sortedArguments
        let reply = self.name(of: function.reply, isReply: true)
        let call = function.progress.map { progress in
            "ProgressCall<\(reply), \(self.name(of: progress.update, isReply: true)), "
                + "\(self.name(of: progress.answer, isInput: true))>"
        }
        let result = function.isCall ? call ?? "Call<\(reply)>" : "Promise<void>"
        let parameters = arguments.map { argument in
            let mark = argument.isRequired ? "" : "?"
            return
                "readonly \(argument.name.scriptKey)\(mark): \(self.name(of: argument.type, isInput: true))"
        }
        if arguments.isEmpty {
            self.code.list(["options: Options = {}"], opening: "\(name)(", closing: "): \(result) {")
        } else {
            let value = arguments.contains(where: \.isRequired) ? "" : " = {}"
            self.block("\(name)(", closing: "): \(result) {") { client in
                let line = "parameters: { \(parameters.joined(separator: "; ")) }\(value),"
                if client.code.fits(line) {
                    client.code.line(line)
                } else {
                    client.block("parameters: {", closing: "}\(value),") {
                        $0.code.lines(parameters.map { "\($0);" })
                    }
                }
                client.code.line("options: Options = {},")
            }
        }
        self.block(closing: "}") { client in
            client.writeAddresses(function)
            client.writeValues(function)
            let request = "{ url, values, options }"
            if function.isCall {
                let progress = function.progress.map { progress in
                    let answer = client.encoded("value", progress.answer, isInput: true)
                    return [client.decoder(of: progress.update), "(value) => \(answer)"]
                }
                client.code.list(
                    ["this.transport", request, client.decoder(of: function.reply)] + (progress ?? []),
                    opening: "return new \(progress == nil ? "Call" : "ProgressCall")(",
                    closing: ");"
                )
            } else {
                client.code.line("return this.transport.send(\(request));")
            }
        }
    }

    mutating func writeAddresses(_ function: ClientModel.Function) {
        let texts = function.addresses.map { self.address($0, of: function) }
        guard texts.count > 1 else { return self.code.line("const url = \(texts.first ?? "\"\"");") }
        let conditions = function.conditions(and: " && ", always: "true") { name in
            "\(name.scriptMember(of: "parameters")) !== undefined"
        }
        self.code.line("let url: string;")
        for (index, text) in texts.enumerated() {
            let condition = index < conditions.count ? "if (\(conditions[index])) " : ""
            self.code.line("\(index == 0 ? "" : "} else ")\(condition){")
            self.code.line("  url = \(text);")
        }
        self.code.line("}")
    }

    func address(_ pieces: [ClientModel.AddressPiece], of function: ClientModel.Function) -> String {
        guard pieces.hasArgument else {
            return pieces.map { if case .literal(let text) = $0 { text } else { "" } }.joined().quotedText
        }
        let parts = pieces.map { piece in
            switch piece {
            case .literal(let text):
                let content = text.quotedText.literalContent
                return content.replacingBytes("`", with: "\\`").replacingBytes("$", with: "\\$")
            case .value(let name, let isPath):
                let argument = name.scriptMember(of: "parameters")
                let value = self.encoded(argument, function.type(of: name), isInput: true)
                return "${\(isPath ? "path" : "segment")(\(name.quotedText), \(value))}"
            }
        }
        return "`\(parts.joined())`"
    }

    mutating func writeValues(_ function: ClientModel.Function) {
        let values = function.values
        self.writeMembers(
            values.map { argument in
                let encode = { self.encoded($0, argument.type, isInput: true) }
                return Self.member(argument.name, of: "parameters", isRequired: argument.isRequired, encode)
            },
            opening: "const values = ",
            hasOptional: values.contains { !$0.isRequired }
        )
    }
}
