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
            let name = "\(names[argument.name] ?? ""): \(type)"
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

    func details(of function: ClientModel.Function, _ names: [String: String]) -> [String] {
        var lines = [function.patternText]
        let defaults = function.sortedArguments.compactMap { argument in
            argument.defaultValue.map { "    \(names[argument.name] ?? ""): \($0) if it is None." }
        }
        if !defaults.isEmpty { lines += ["", "Args:"] + defaults }
        if !function.failures.isEmpty {
            lines += ["", "Raises:"] + function.failures.map { "    \($0)" }
        }
        return lines
    }

    mutating func writeAddresses(_ function: ClientModel.Function, _ names: [String: String]) {
        for (index, address) in function.addresses.enumerated() {
            let given = address.compactMap(\.argument).filter { name in
                function.arguments.contains { $0.name == name && !$0.isRequired }
            }.map { "\(names[$0] ?? "") is not None" }
            let isLast = index == function.addresses.count - 1
            let words = index == 0 ? "if" : "elif"
            if isLast, index > 0 {
                self.code.line("else:")
            } else if !isLast {
                self.code.line("\(words) \(given.isEmpty ? "True" : given.joined(separator: " and ")):")
            }
            let isFormatted = address.contains { $0.argument != nil }
            let pieces = address.map { piece in
                guard case .value(let name, let isPath) = piece else {
                    let text = self.literal(of: piece).quotedText.literalContent
                    guard isFormatted else { return text }
                    return text.replacingBytes("{", with: "{{").replacingBytes("}", with: "}}")
                }
                let type = function.arguments.first { $0.name == name }?.type ?? .text
                let argument = names[name] ?? ""
                let value = self.encoded(argument, type)
                return "{\(isPath ? "_path" : "_segment")('\(argument)', \(value))}"
            }
            let line = "_url = \(isFormatted ? "f" : "")\"\(pieces.joined())\""
            self.code.line(function.addresses.count > 1 ? "    " + line : line)
        }
    }

    func literal(of piece: ClientModel.AddressPiece) -> String {
        if case .literal(let text) = piece { text } else { "" }
    }

    mutating func writeCall(_ function: ClientModel.Function, _ names: [String: String]) {
        let values = function.values.map { argument in
            let type: ClientType = argument.isRequired ? argument.type : .optional(argument.type)
            let value = self.encoded(names[argument.name] ?? "", type)
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
            self.code.line("await self._client._transport.send(_Request(_url, _values, options))")
        }
    }
}
