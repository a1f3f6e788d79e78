// Declared types.
extension TypeScriptClient {
    mutating func write(_ declaration: ClientDeclaration) {
        let name = self.types[declaration.name] ?? ""
        self.code.line()
        switch declaration.kind {
        case .object(let properties): self.write(declaration, properties)
        case .texts(let values):
            self.writeDocumentation(declaration.documentation, more: ["The server may send other texts."])
            self.writeOptions(values.map(\.quotedText) + ["(string & {})"], of: name)
            self.writeCodec(name, decode: "text")
        case .integers(let values, let type):
            let isSafe = type.isSafeInJavaScript
            self.writeDocumentation(declaration.documentation, more: ["The server may send other numbers."])
            let literals = values.map { isSafe ? $0 : "\($0)n" }
            self.writeOptions(literals + ["(\(isSafe ? "number" : "bigint") & {})"], of: name)
            self.writeCodec(name, decode: isSafe ? "integer" : "long")
        case .union(let tag, let options): self.write(declaration, tag: tag, options)
        }
    }

    mutating func writeOptions(_ options: [String], of name: String) {
        let line = "export type \(name) = \(options.joined(separator: " | "));"
        if self.code.fits(line) { return self.code.line(line) }
        self.block("export type \(name) =") { client in
            for (index, option) in options.enumerated() {
                client.code.line("| \(option)\(index == options.count - 1 ? ";" : "")")
            }
        }
    }

    mutating func writeCodec(_ name: String, decode: String) {
        self.code.line()
        self.block("export const \(name): Type<\(name)> = {", closing: "};") { client in
            client.code.lines(["decode: (value) => \(decode)(value),", "encode: (value) => value,"])
        }
    }

    mutating func write(_ declaration: ClientDeclaration, _ properties: [ClientDeclaration.Property]) {
        let name = self.types[declaration.name] ?? ""
        self.writeDocumentation(declaration.documentation)
        self.block("export interface \(name) {", closing: "}") { client in
            for property in properties {
                let type = property.isRequired ? property.type : property.type.unwrapped
                let mark = property.isRequired ? "" : "?"
                client.code.line("readonly \(property.name.scriptKey)\(mark): \(client.name(of: type));")
            }
        }
        self.code.lines(["", "export const \(name): Type<\(name)> = {", "  decode(value) {"])
        self.code.line(properties.isEmpty ? "    object(value);" : "    const members = object(value);")
        self.writeMembers(
            properties.map { property in
                let decoder =
                    property.isRequired
                    ? self.decoder(of: property.type)
                    : "optional(\(self.decoder(of: property.type.unwrapped)))"
                let key = property.name == "__proto__" ? "[\"__proto__\"]" : property.name.scriptKey
                return "\(key): \(decoder)(\(property.name.scriptMember(of: "members")))"
            },
            opening: "    return {",
            closing: "};"
        )
        self.code.lines(["  },", properties.isEmpty ? "  encode() {" : "  encode(value) {"])
        let hasOptional = properties.contains { !$0.isRequired }
        self.writeMembers(
            properties.map { property in
                let type = property.isRequired ? property.type : property.type.unwrapped
                let value = property.name.scriptMember(of: "value")
                let key = property.name == "__proto__" ? "[\"__proto__\"]" : property.name.scriptKey
                if property.isRequired || self.isPlain(type) { return "\(key): \(self.encoded(value, type))" }
                return "\(key): ifGiven(\(value), (item) => \(self.encoded("item", type)))"
            },
            opening: "    return \(hasOptional ? "given(" : ""){",
            closing: "}\(hasOptional ? ")" : "");"
        )
        self.code.lines(["  },", "};"])
    }

    /// Writes an object literal with one line for each member, because the formatter prettier keeps this
    /// layout.
    mutating func writeMembers(_ members: [String], opening: String, closing: String) {
        if members.isEmpty { return self.code.line(opening + closing) }
        self.code.line(opening)
        let depth = opening.prefix { $0 == " " }
        self.code.lines(members.map { "\(depth)  \($0)," })
        self.code.line("\(depth)\(closing)")
    }

    mutating func write(
        _ declaration: ClientDeclaration,
        tag: String,
        _ options: [ClientDeclaration.Option]
    ) {
        let name = self.types[declaration.name] ?? ""
        self.writeDocumentation(
            declaration.documentation,
            more: ["The server may send other options, which are `unknown`."]
        )
        self.writeOptions(
            options.map { self.types[$0.schema] ?? "" } + ["{ readonly unknown: JSONValue }"],
            of: name
        )
        self.code.lines(["", "export const \(name): Type<\(name)> = {", "  decode(value) {"])
        self.code.line("    switch (\(tag.scriptMember(of: "object(value)"))) {")
        for option in options {
            let type = self.types[option.schema] ?? ""
            self.code.lines(["      case \(option.tag.quotedText):", "        return \(type).decode(value);"])
        }
        self.code.lines(["      default:", "        return { unknown: plain(value) };", "    }", "  },"])
        self.code.lines(["  encode(value) {", "    if (\"unknown\" in value) return value.unknown;"])
        self.code.line("    switch (\(tag.scriptMember(of: "value"))) {")
        for option in options {
            let type = self.types[option.schema] ?? ""
            self.code.lines(["      case \(option.tag.quotedText):", "        return \(type).encode(value);"])
        }
        self.code.lines(["    }", "  },", "};"])
    }
}
