// Declared types.
extension PythonClient {
    mutating func write(_ declaration: ClientDeclaration) {
        let name = self.types[declaration.name]
        self.code.lines(["", ""])
        switch declaration.kind {
        case .object(let properties): self.write(declaration, properties)
        case .texts(let values):
            self.writeEnumeration(declaration, literals: values.map(\.quotedText), of: "str", cases: values)
        case .integers(let values, _):
            self.writeEnumeration(declaration, literals: values, of: "int", cases: values.map(\.numberName))
        case .union(let tag, let options):
            let members = options.map { self.types[$0.schema] } + ["Unknown"]
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
        let name = self.types[declaration.name]
        var scope = NameScope(.capitals, reserved: ["MRO"])
        let names = zip(cases, literals).map { (scope.claim($0.0), $0.1) }
        self.block("class \(name)(\(base), Enum):") { client in
            client.writeDocumentation(
                declaration.documentation,
                more: ["The known values; the server may send others."]
            )
            client.code.line()
            client.code.lines(names.map { "\($0.0) = \($0.1)" })
            client.code.template(
                """

                @classmethod
                def _missing_(cls, value: object) -> Self:
                    if type(value) is not \(base):
                        raise _mismatch("\(name)", str(value))
                    member = \(base).__new__(cls, value)
                    member._name_ = f"unknown {value}"
                    member._value_ = value
                    return member
                """
            )
        }
        let decode = base == "str" ? "_text" : "_integer"
        self.definition("def _decode_\(name)(value: JSON) -> \(name):") {
            $0.code.line("return \(name)(\(decode)(value))")
        }
        self.definition("def _encode_\(name)(value: \(name)) -> JSON:") {
            $0.code.line("return \(base)(value.value)")
        }
    }

    mutating func write(_ declaration: ClientDeclaration, _ properties: [ClientDeclaration.Property]) {
        let name = self.types[declaration.name]
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
        self.definition("def _decode_\(name)(value: JSON) -> \(name):") { client in
            client.code.line(fields.isEmpty ? "_object(value)" : "members = _object(value)")
            let items = fields.compactMap { field, property -> String? in
                if case .literal = property.type { return nil }
                let place = "members.get(\(property.name.quotedText))"
                return "\(field)=\(client.decoder(of: property.declaredType))(\(place))"
            }
            client.code.list(items, opening: "return \(name)(", closing: ")")
        }
        self.definition("def _encode_\(name)(value: \(name)) -> JSON:") { client in
            let members = fields.map { field, property in
                let value = client.encoded("value.\(field)", property.declaredType)
                return (item: "\(property.name.quotedText): \(value)", isRequired: property.isRequired)
            }
            client.writeMembers(members, of: "members")
            client.code.line("return members")
        }
    }

    /// Writes the statements that assign a dictionary to a variable.
    ///
    /// A member that is not required is omitted if its value is None.
    mutating func writeMembers(_ members: [(item: String, isRequired: Bool)], of name: String) {
        let required = members.filter(\.isRequired).map(\.item)
        let others = members.filter { !$0.isRequired }.map(\.item)
        self.code.list(required, opening: "\(name): dict[str, JSON] = {", closing: "}")
        if others.isEmpty { return }
        let line = "\(name) |= _given({\(others.joined(separator: ", "))})"
        if self.code.fits(line) { return self.code.line(line) }
        self.block("\(name) |= _given(", closing: ")") { client in
            client.code.list(others, opening: "{", closing: "}")
        }
    }

    mutating func writeUnion(
        _ declaration: ClientDeclaration,
        tag: String,
        _ options: [ClientDeclaration.Option]
    ) {
        let name = self.types[declaration.name]
        self.definition("def _decode_\(name)(value: JSON) -> \(name):") { client in
            client.code.line("tag = _object(value).get(\(tag.quotedText))")
            for option in options {
                let decode = "_decode_\(client.types[option.schema])"
                client.code.lines(["if tag == \(option.tag.quotedText):", "    return \(decode)(value)"])
            }
            client.code.line("return Unknown(value)")
        }
        self.definition("def _encode_\(name)(value: \(name)) -> JSON:") { client in
            for option in options {
                let type = client.types[option.schema]
                let encode = "_encode_\(client.types[option.schema])"
                client.code.lines(["if isinstance(value, \(type)):", "    return \(encode)(value)"])
            }
            client.code.line("return value.value")
        }
    }

    mutating func write(_ failure: ClientModel.Failure) {
        let name = self.failures[failure.name]
        self.definition("class \(name)(DeclaredError):") { client in
            let codes = failure.codes.map { "`\($0)`" }.joined(separator: ", ")
            client.writeDocumentation("The error `\(failure.name)`. Its `case` is \(codes), or a newer one.")
        }
    }
}
