// Types and their conversions.
extension PythonClient {
    func name(of type: ClientType) -> String { self.reading(of: type).name }

    func decoder(of type: ClientType) -> String { self.reading(of: type).decoder }

    /// Returns the name of a type, and the function that decodes its values.
    private func reading(of type: ClientType) -> (name: String, decoder: String) {
        switch type {
        case .json, .optional(.json): return ("JSON", "_plain")
        case .nothing: return ("None", "_nothing")
        case .boolean: return ("bool", "_boolean")
        case .text: return ("str", "_text")
        case .integer: return ("int", "_integer")
        case .number: return ("float", "_number")
        case .decimal: return ("Decimal", "_decimal")
        case .date: return ("datetime", "_date")
        case .uuid: return ("UUID", "_uuid")
        case .bytes: return ("bytes", "_bytes")
        case .literal(let text): return ("Literal[\(text.quotedText)]", "_text")
        case .named(let name): return (self.types[name], "_decode_\(self.types[name])")
        case .array(let element):
            let (name, decoder) = self.reading(of: element)
            return ("list[\(name)]", "_array(\(decoder))")
        case .dictionary(let value):
            let (name, decoder) = self.reading(of: value)
            return ("dict[str, \(name)]", "_dictionary(\(decoder))")
        case .optional(let wrapped):
            let (name, decoder) = self.reading(of: wrapped)
            return ("\(name) | None", "_optional(\(decoder))")
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
