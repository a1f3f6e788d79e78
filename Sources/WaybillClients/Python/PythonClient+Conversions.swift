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
        case .named(let name): self.types[name]
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
        case .named(let name): "_decode_\(self.types[name])"
        }
    }

    /// Returns the expression that converts a value to JSON, which is the value itself if that is JSON already.
    func encoded(_ value: String, _ type: ClientType, depth: Int = 0) -> String {
        let item = depth == 0 ? "_item" : "_item_\(depth + 1)"
        switch type {
        case .date: return "_from_date(\(value))"
        case .uuid: return "str(\(value))"
        case .bytes: return "_from_bytes(\(value))"
        case .named(let name): return "_encode_\(self.types[name])(\(value))"
        case .array(let element):
            let encoded = self.encoded(item, element, depth: depth + 1)
            return encoded == item ? value : "[\(encoded) for \(item) in \(value)]"
        case .dictionary(let element):
            let encoded = self.encoded(item, element, depth: depth + 1)
            return encoded == item ? value : "{_key: \(encoded) for _key, \(item) in \(value).items()}"
        case .optional(let wrapped):
            let encoded = self.encoded(value, wrapped, depth: depth)
            return encoded == value ? value : "None if \(value) is None else \(encoded)"
        default: return value
        }
    }
}
