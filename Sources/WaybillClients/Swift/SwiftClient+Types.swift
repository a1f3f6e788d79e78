// Declared types.
extension SwiftClient {
    mutating func write(_ declaration: ClientDeclaration) {
        let name = self.types[declaration.name]
        self.code.line()
        self.block("extension \(self.name) {", closing: "}") { client in
            switch declaration.kind {
            case .object(let properties): client.write(declaration, properties)
            case .texts(let values):
                client.writeEnumeration(
                    declaration,
                    zip(values, values.map(\.swiftText)).map { ($0, $1) },
                    of: "String"
                )
            case .integers(let values, _):
                client.writeEnumeration(declaration, values.map { ($0.numberName, $0) }, of: "Int")
            case .union(let tag, let options):
                client.writeDocumentation(declaration.documentation)
                client.block("public indirect enum \(name): Codable, Hashable, Sendable {", closing: "}") {
                    $0.writeUnion(options, tag: tag)
                }
            }
        }
    }

    mutating func writeEnumeration(
        _ declaration: ClientDeclaration,
        _ values: [(name: String, literal: String)],
        of type: String
    ) {
        self.writeDocumentation(declaration.documentation, more: ["The server may send other values."])
        let name = self.types[declaration.name]
        var scope = NameScope(.camel, reserved: ["self", "init"])
        self.block("public struct \(name): RawRepresentable, Codable, Hashable, Sendable {", closing: "}") {
            client in
            for value in values {
                let name = scope.claim(value.name).quoted
                client.code.line("public static let \(name) = Self(rawValue: \(value.literal))")
            }
            client.code.lines([
                "", "public let rawValue: \(type)", "",
                "public init(rawValue: \(type)) { self.rawValue = rawValue }",
            ])
        }
    }

    mutating func write(_ declaration: ClientDeclaration, _ properties: [ClientDeclaration.Property]) {
        var scope = NameScope(.camel, reserved: Set(self.types.values).union(["self", "init", "hashValue"]))
        let fields = properties.map { (name: scope.claim($0.name).quoted, property: $0) }
        self.writeDocumentation(declaration.documentation)
        let name = self.types[declaration.name]
        self.block("public struct \(name): Codable, Hashable, Sendable {", closing: "}") { client in
            for field in fields {
                let type = client.name(of: field.property.declaredType)
                if case .literal(let text) = field.property.type {
                    client.code.line("public private(set) var \(field.name) = \(text.swiftText)")
                } else {
                    let isRecursive = client.isRecursive(field.property.type, in: declaration.name)
                    client.code.line("\(isRecursive ? "@Indirect " : "")public var \(field.name): \(type)")
                }
            }
            client.writeInitializer(fields)
            guard fields.contains(where: { $0.name != $0.property.name.quoted }) else { return }
            client.code.line()
            client.block("private enum CodingKeys: String, CodingKey {", closing: "}") { client in
                for field in fields {
                    client.code.line("case \(field.name) = \(field.property.name.swiftText)")
                }
            }
        }
    }

    mutating func writeInitializer(_ fields: [(name: String, property: ClientDeclaration.Property)]) {
        let passed = fields.filter { field in
            if case .literal = field.property.type { false } else { true }
        }
        if !fields.isEmpty { self.code.line() }
        self.code.list(
            passed.map { field in
                let value = field.property.declaredType.isOptional ? " = nil" : ""
                return "\(field.name): \(self.name(of: field.property.declaredType))\(value)"
            },
            opening: "public init(",
            closing: passed.isEmpty ? ") {}" : ") {",
            hasLastComma: false
        )
        if passed.isEmpty { return }
        for field in passed { self.code.line("    self.\(field.name) = \(field.name)") }
        self.code.line("}")
    }

    mutating func writeUnion(_ options: [ClientDeclaration.Option], tag: String) {
        var scope = NameScope(.camel, reserved: ["unknown", "self", "init"])
        let cases = options.map { option in
            (name: scope.claim(option.tag).quoted, option: option, type: self.types[option.schema])
        }
        for option in cases { self.code.line("case \(option.name)(\(option.type))") }
        self.code.lines([
            "/// An option that a newer server has added.", "case unknown(JSONValue)", "",
            "private enum CodingKeys: String, CodingKey {", "    case tag = \(tag.swiftText)", "}", "",
            "public init(from decoder: any Decoder) throws {",
            "    let container = try decoder.container(keyedBy: CodingKeys.self)",
            "    switch try container.decodeIfPresent(String.self, forKey: .tag) {",
        ])
        for option in cases {
            let value = ".\(option.name)(try \(option.type)(from: decoder))"
            self.code.line("    case \(option.option.tag.swiftText): self = \(value)")
        }
        self.code.lines([
            "    default: self = .unknown(try JSONValue(from: decoder))", "    }", "}", "",
            "public func encode(to encoder: any Encoder) throws {", "    switch self {",
        ])
        for option in cases {
            self.code.line("    case .\(option.name)(let value): try value.encode(to: encoder)")
        }
        self.code.lines(["    case .unknown(let value): try value.encode(to: encoder)", "    }", "}"])
    }

    /// Returns whether a property makes a type contain itself, which is not possible for a structure.
    func isRecursive(_ type: ClientType, in name: String) -> Bool {
        var seen: Set<String> = []
        var open = [type]
        while let type = open.popLast() {
            guard case .named(let next) = type.unwrapped else { continue }
            if next == name { return true }
            guard seen.insert(next).inserted, case .object(let properties) = self.declarations[next]?.kind
            else {
                continue
            }
            open += properties.map(\.type)
        }
        return false
    }
}
