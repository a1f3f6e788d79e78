// Types and their conversions.
extension PythonClient {
    func name(of type: ClientType) -> String {
        switch type {
        case .json: "JSON"
        case .nothing: "None"
        case .boolean: "bool"
        case .text: "str"
        case .integer: "int"
        case .number: "float"
        case .decimal: "Decimal"
        case .date: "datetime"
        case .uuid: "UUID"
        case .bytes: "bytes"
        case .literal(let text): "Literal[\(text.quotedText)]"
        case .array(let element): "list[\(self.name(of: element))]"
        case .dictionary(let value): "dict[str, \(self.name(of: value))]"
        case .optional(.json): "JSON"
        case .optional(let wrapped): "\(self.name(of: wrapped)) | None"
        case .named(let name): self.types[name] ?? "JSON"
        }
    }

    func decoder(of type: ClientType) -> String {
        switch type {
        case .json: "_plain"
        case .nothing: "_nothing"
        case .boolean: "_boolean"
        case .text, .literal: "_text"
        case .integer: "_integer"
        case .number: "_number"
        case .decimal: "_decimal"
        case .date: "_date"
        case .uuid: "_uuid"
        case .bytes: "_bytes"
        case .array(let element): "_array(\(self.decoder(of: element)))"
        case .dictionary(let value): "_dictionary(\(self.decoder(of: value)))"
        case .optional(.json): "_plain"
        case .optional(let wrapped): "_optional(\(self.decoder(of: wrapped)))"
        case .named(let name): "_decode_\(self.types[name] ?? "")"
        }
    }

    /// Returns the expression that converts a value to JSON.
    func encoded(_ value: String, _ type: ClientType, depth: Int = 0) -> String {
        if Self.isPlain(type) { return value }
        let item = depth == 0 ? "_item" : "_item_\(depth + 1)"
        return switch type {
        case .date: "_from_date(\(value))"
        case .uuid: "str(\(value))"
        case .bytes: "_from_bytes(\(value))"
        case .named(let name): "_encode_\(self.types[name] ?? "")(\(value))"
        case .array(let element):
            "[\(self.encoded(item, element, depth: depth + 1)) for \(item) in \(value)]"
        case .dictionary(let element):
            "{_key: \(self.encoded(item, element, depth: depth + 1)) for _key, \(item) in \(value).items()}"
        case .optional(let wrapped):
            "None if \(value) is None else \(self.encoded(value, wrapped, depth: depth))"
        default: value
        }
    }

    /// Returns whether a value of the type can be encoded as JSON without a conversion.
    static func isPlain(_ type: ClientType) -> Bool {
        switch type {
        case .date, .uuid, .bytes, .named: false
        case .array(let element), .dictionary(let element), .optional(let element): self.isPlain(element)
        default: true
        }
    }
}
