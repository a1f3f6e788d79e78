// Declared types.
extension PythonClient {
    mutating func write(_ declaration: ClientDeclaration) {
        let name = self.types[declaration.name] ?? ""
        self.code.lines(["", ""])
        switch declaration.kind {
        case .object(let properties): self.write(declaration, properties)
        case .texts(let values):
            self.writeEnumeration(declaration, literals: values.map(\.quotedText), of: "str", cases: values)
        case .integers(let values, _):
            self.writeEnumeration(declaration, literals: values, of: "int", cases: values.map { "n\($0)" })
        case .union(let tag, let options):
            let members = options.map { self.types[$0.schema] ?? "" } + ["Unknown"]
            self.code.line("\(name): TypeAlias = \"\(members.joined(separator: " | "))\"")
            self.writeUnion(declaration, tag: tag, options)
        }
    }

    mutating func writeEnumeration(
        _ declaration: ClientDeclaration,
        literals: [String],
        of base: String,
        cases: [String]
    ) {
        let (name, function) = (self.types[declaration.name] ?? "", self.functions[declaration.name] ?? "")
        var scope = NameScope(.capitals, reserved: ["MRO"])
        let names = zip(cases, literals).map { (scope.claim($0.0), $0.1) }
        self.block("class \(name)(\(base), Enum):") { client in
            client.writeDocumentation(
                declaration.documentation,
                more: ["The known values; the server may send others."]
            )
            client.code.line()
            client.code.lines(names.map { "\($0.0) = \($0.1)" })
            client.code.lines([
                "", "@classmethod", "def _missing_(cls, value: object) -> Self:",
                "    if type(value) is not \(base):", "        raise _mismatch(\"\(name)\", str(value))",
                "    member = \(base).__new__(cls, value)", "    member._name_ = f\"unknown {value}\"",
                "    member._value_ = value", "    return member",
            ])
        }
        let decode = base == "str" ? "_text" : "_integer"
        self.definition("def _decode_\(function)(value: JSON) -> \(name):") {
            $0.code.line("return \(name)(\(decode)(value))")
        }
        self.definition("def _encode_\(function)(value: \(name)) -> JSON:") {
            $0.code.line("return \(base)(value.value)")
        }
    }

    mutating func write(_ declaration: ClientDeclaration, _ properties: [ClientDeclaration.Property]) {
        let (name, function) = (self.types[declaration.name] ?? "", self.functions[declaration.name] ?? "")
        var scope = NameScope(.snake, reserved: Self.keywords.union(self.types.values))
        let fields = properties.map { (scope.claim($0.name), $0) }
        self.code.line("@dataclass(frozen=True, kw_only=True, slots=True)")
        self.block("class \(name):") { client in
            client.writeDocumentation(
                declaration.documentation.isEmpty ? "A value of the server." : declaration.documentation
            )
            if !fields.isEmpty { client.code.line() }
            for (field, property) in fields {
                if case .literal(let text) = property.type {
                    client.code.line("\(field): \(client.name(of: property.type)) = \(text.quotedText)")
                } else {
                    let value = property.isRequired ? "" : " = None"
                    client.code.line("\(field): \(client.name(of: property.declaredType))\(value)")
                }
            }
        }
        self.definition("def _decode_\(function)(value: JSON) -> \(name):") { client in
            client.code.line(fields.isEmpty ? "_object(value)" : "members = _object(value)")
            let items = fields.compactMap { field, property -> String? in
                if case .literal = property.type { return nil }
                let place = "members.get(\(property.name.quotedText))"
                return "\(field)=\(client.decoder(of: property.declaredType))(\(place))"
            }
            client.code.list(items, opening: "return \(name)(", closing: ")")
        }
        self.definition("def _encode_\(function)(value: \(name)) -> JSON:") { client in
            var (required, others): ([String], [String]) = ([], [])
            for (field, property) in fields {
                let type = property.declaredType
                let item = "\(property.name.quotedText): \(client.encoded("value.\(field)", type))"
                if property.isRequired { required.append(item) } else { others.append(item) }
            }
            client.writeMembers(required, others: others, opening: "return ", closing: "")
        }
    }

    /// Writes a dictionary expression.
    ///
    /// Members in `others` whose value is None are omitted from the dictionary.
    mutating func writeMembers(
        _ required: [String],
        others: [String],
        opening: String,
        closing: String
    ) {
        if others.isEmpty {
            return self.code.list(required, opening: "\(opening){", closing: "}\(closing)")
        }
        if required.isEmpty {
            let line = "\(opening)_given({\(others.joined(separator: ", "))})\(closing)"
            if self.code.fits(line) { return self.code.line(line) }
            return self.block("\(opening)_given(", closing: ")\(closing)") { client in
                client.code.list(others, opening: "{", closing: "}")
            }
        }
        let line = (required + ["**_given({\(others.joined(separator: ", "))})"]).joined(separator: ", ")
        if self.code.fits("\(opening){\(line)}\(closing)") {
            return self.code.line("\(opening){\(line)}\(closing)")
        }
        self.block("\(opening){", closing: "}\(closing)") { client in
            client.code.lines(required.map { "\($0)," })
            let given = "**_given({\(others.joined(separator: ", "))}),"
            if client.code.fits(given) { return client.code.line(given) }
            client.block("**_given(", closing: "),") { $0.code.list(others, opening: "{", closing: "}") }
        }
    }

    mutating func writeUnion(
        _ declaration: ClientDeclaration,
        tag: String,
        _ options: [ClientDeclaration.Option]
    ) {
        let (name, function) = (self.types[declaration.name] ?? "", self.functions[declaration.name] ?? "")
        self.definition("def _decode_\(function)(value: JSON) -> \(name):") { client in
            client.code.line("tag = _object(value).get(\(tag.quotedText))")
            for option in options {
                let decode = "_decode_\(client.functions[option.schema] ?? "")"
                client.code.lines(["if tag == \(option.tag.quotedText):", "    return \(decode)(value)"])
            }
            client.code.line("return Unknown(value)")
        }
        self.definition("def _encode_\(function)(value: \(name)) -> JSON:") { client in
            for option in options {
                let type = client.types[option.schema] ?? ""
                let encode = "_encode_\(client.functions[option.schema] ?? "")"
                client.code.lines(["if isinstance(value, \(type)):", "    return \(encode)(value)"])
            }
            client.code.line("return value.value")
        }
    }

    mutating func write(_ failure: ClientModel.Failure) {
        let name = self.failures[failure.name] ?? ""
        self.definition("class \(name)(DeclaredError):") { client in
            let codes = failure.codes.map { "`\($0)`" }.joined(separator: ", ")
            client.writeDocumentation("The error `\(failure.name)`. Its `case` is \(codes), or a newer one.")
        }
    }
}
