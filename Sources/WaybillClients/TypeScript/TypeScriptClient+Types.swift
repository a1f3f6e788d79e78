// Declared types.
extension TypeScriptClient {
    mutating func write(_ declaration: ClientDeclaration) {
        let name = self.types[declaration.name]
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
        let name = self.types[declaration.name]
        self.writeDocumentation(declaration.documentation)
        self.block("export interface \(name) {", closing: "}") { client in
            for property in properties {
                let key = "\(property.name.scriptKey)\(property.isRequired ? "" : "?")"
                client.code.line("readonly \(key): \(client.name(of: property.valueType));")
            }
        }
        self.code.lines(["", "export const \(name): Type<\(name)> = {", "  decode(value) {"])
        self.code.line(properties.isEmpty ? "    object(value);" : "    const members = object(value);")
        self.writeMembers(
            properties.map { property in
                let value = self.decoder(of: property.valueType)
                let decoder = property.isRequired ? value : "optional(\(value))"
                return "\(property.name.scriptKey): \(decoder)(\(property.name.scriptMember(of: "members")))"
            },
            opening: "    return "
        )
        self.code.lines(["  },", properties.isEmpty ? "  encode() {" : "  encode(value) {"])
        self.writeMembers(
            properties.map { property in
                let encode = { self.encoded($0, property.valueType) }
                return Self.member(property.name, of: "value", isRequired: property.isRequired, encode)
            },
            opening: "    return ",
            hasOptional: properties.contains { !$0.isRequired }
        )
        self.code.lines(["  },", "};"])
    }

    /// Returns a member of an object literal with the JSON of a property.
    ///
    /// `encode` returns the expression that converts a value.
    static func member(
        _ name: String,
        of object: String,
        isRequired: Bool,
        _ encode: (String) -> String
    ) -> String {
        let value = name.scriptMember(of: object)
        let encoded = encode(value)
        if isRequired || encoded == value { return "\(name.scriptKey): \(encoded)" }
        return "\(name.scriptKey): ifGiven(\(value), (item) => \(encode("item")))"
    }

    /// Writes a statement that ends with an object literal.
    ///
    /// Each member has its own line, because the formatter prettier keeps this layout. If `hasOptional` is
    /// true, the object has no members that are undefined.
    mutating func writeMembers(_ members: [String], opening: String, hasOptional: Bool = false) {
        let (start, end) = hasOptional ? ("given({", "});") : ("{", "};")
        if members.isEmpty { return self.code.line(opening + start + end) }
        let depth = opening.prefix { $0 == " " }
        self.block(opening + start, closing: depth + end) { client in
            client.code.lines(members.map { "\(depth)\($0)," })
        }
    }

    mutating func write(
        _ declaration: ClientDeclaration,
        tag: String,
        _ options: [ClientDeclaration.Option]
    ) {
        let name = self.types[declaration.name]
        self.writeDocumentation(
            declaration.documentation,
            more: ["The server may send other options, which are `unknown`."]
        )
        self.writeOptions(
            options.map { self.types[$0.schema] } + ["{ readonly unknown: JSONValue }"],
            of: name
        )
        self.code.lines(["", "export const \(name): Type<\(name)> = {", "  decode(value) {"])
        self.code.line("    switch (\(tag.scriptMember(of: "object(value)"))) {")
        for option in options {
            let type = self.types[option.schema]
            self.code.lines(["      case \(option.tag.quotedText):", "        return \(type).decode(value);"])
        }
        self.code.lines(["      default:", "        return { unknown: plain(value) };", "    }", "  },"])
        // An option that is known may have a property with the name `unknown`.
        let condition = "!(\(tag.quotedText) in value)"
        self.code.lines(["  encode(value) {", "    if (\(condition)) return value.unknown;"])
        self.code.line("    switch (\(tag.scriptMember(of: "value"))) {")
        for option in options {
            let type = self.types[option.schema]
            self.code.lines(["      case \(option.tag.quotedText):", "        return \(type).encode(value);"])
        }
        self.code.lines(["    }", "  },", "};"])
    }
}
