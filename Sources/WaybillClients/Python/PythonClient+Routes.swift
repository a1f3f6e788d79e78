internal import WaybillDocuments

// Routes.
extension PythonClient {
    mutating func write(_ functions: [ClientModel.Function], in name: String) {
        var scope = NameScope(.snake, reserved: Self.keywords.union(self.types.values))
        self.definition("class \(name):") { client in
            client.code.lines(["def __init__(self, client: _Client) -> None:", "    self._client = client"])
            for function in functions { client.write(function, as: scope.claim(function.name)) }
        }
    }

    mutating func write(_ function: ClientModel.Function, as name: String) {
        var scope = NameScope(.snake, reserved: Self.keywords.union(["options", "self"]))
        let names = scope.claim(function.arguments.map(\.name))
        let arguments = function.sortedArguments.map { argument in
            let type = self.name(of: argument.type)
            let name = "\(names[argument.name]): \(type)"
            return argument.isRequired ? name : "\(name)\(argument.type == .json ? "" : " | None") = None"
        }
        self.code.line()
        let reply = self.name(of: function.reply)
        let call = function.progress.map { progress in
            "ProgressCall[\(reply), \(self.name(of: progress.update)), \(self.name(of: progress.answer))]"
        }
        let result = function.isCall ? call ?? "Call[\(reply)]" : "None"
        self.code.list(
            ["self", "*"] + arguments + ["options: Options | None = None"],
            opening: "\(function.isCall ? "" : "async ")def \(name)(",
            closing: ") -> \(result):"
        )
        self.block { client in
            client.writeDocumentation(function.documentation, more: client.details(of: function, names))
            client.writeAddresses(function, names)
            client.writeCall(function, names)
        }
    }

    func details(of function: ClientModel.Function, _ names: ClaimedNames) -> [String] {
        var lines = [function.patternText]
        let defaults = function.sortedArguments.compactMap { argument in
            argument.defaultValue.map { "    \(names[argument.name]): \($0) if it is None." }
        }
        if !defaults.isEmpty { lines += ["", "Args:"] + defaults }
        if !function.failures.isEmpty {
            lines += ["", "Raises:"] + function.failures.map { "    \($0)" }
        }
        return lines
    }

    mutating func writeAddresses(_ function: ClientModel.Function, _ names: ClaimedNames) {
        let texts = function.addresses.map { self.address($0, of: function, names) }
        if texts.count <= 1 { return self.code.line("_url = \(texts.first ?? "\"\"")") }
        let conditions = function.conditions(and: " and ", always: "True") { name in
            "\(names[name]) is not None"
        }
        for (index, text) in texts.enumerated() {
            let word = index == 0 ? "if" : "elif"
            self.code.line(index < conditions.count ? "\(word) \(conditions[index]):" : "else:")
            self.code.line("    _url = \(text)")
        }
    }

    func address(
        _ pieces: [ClientModel.AddressPiece],
        of function: ClientModel.Function,
        _ names: ClaimedNames
    ) -> String {
        let parts = pieces.map { piece in
            switch piece {
            case .literal(let text):
                let content = text.quotedText.literalContent
                guard pieces.hasArgument else { return content }
                return content.replacingBytes("{", with: "{{").replacingBytes("}", with: "}}")
            case .value(let name, let isPath):
                let argument = names[name]
                let value = self.encoded(argument, function.type(of: name))
                return "{\(isPath ? "_path" : "_segment")('\(argument)', \(value))}"
            }
        }
        return "\(pieces.hasArgument ? "f" : "")\"\(parts.joined())\""
    }

    mutating func writeCall(_ function: ClientModel.Function, _ names: ClaimedNames) {
        let values = function.values.map { argument in
            let type: ClientType = argument.isRequired ? argument.type : .optional(argument.type)
            let value = self.encoded(names[argument.name], type)
            return (item: "\(argument.name.quotedText): \(value)", isRequired: argument.isRequired)
        }
        let decoder = function.isCall ? self.decoder(of: function.reply) : ""
        self.writeMembers(values, of: "_values")
        if function.isCall {
            let progress = function.progress.map { [self.decoder(of: $0.update)] }
            self.code.list(
                ["self._client", "_Request(_url, _values, options)", decoder] + (progress ?? []),
                opening: "return \(progress == nil ? "Call" : "ProgressCall")(",
                closing: ")"
            )
        } else {
            self.code.line("await self._client._send(_Request(_url, _values, options))")
        }
    }
}
