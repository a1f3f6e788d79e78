// Types and their conversions.
extension TypeScriptClient {
    /// Returns the name of a type.
    ///
    /// In a reply, the type without a value is `void`. In an argument (`isInput`), whole numbers of 64 bits
    /// may also be `number`.
    func name(of type: ClientType, isReply: Bool = false, isInput: Bool = false) -> String {
        switch type {
        case .json: "JSONValue"
        case .nothing: isReply ? "void" : "null"
        case .boolean: "boolean"
        case .text, .decimal, .uuid: "string"
        case .integer(let type): type.isSafeInJavaScript ? "number" : isInput ? "number | bigint" : "bigint"
        case .number: "number"
        case .date: "Date"
        case .bytes: "Uint8Array"
        case .literal(let text): text.quotedText
        case .array(let element):
            element.isOptional || element.isCollection
                ? "readonly (\(self.name(of: element)))[]" : "readonly \(self.name(of: element))[]"
        case .dictionary(let value): "{ readonly [name: string]: \(self.name(of: value)) }"
        case .optional(.json): "JSONValue"
        case .optional(let wrapped): "\(self.name(of: wrapped)) | null"
        case .named(let name): self.types[name]
        }
    }

    func decoder(of type: ClientType) -> String {
        switch type {
        case .json, .optional(.json): "plain"
        case .nothing: "nothing"
        case .boolean: "boolean"
        case .text, .uuid: "text"
        case .integer(let type): type.isSafeInJavaScript ? "integer" : "long"
        case .number: "float"
        case .decimal: "decimal"
        case .date: "date"
        case .bytes: "bytes"
        case .literal(let text): "literal(\(text.quotedText))"
        case .array(let element): "array(\(self.decoder(of: element)))"
        case .dictionary(let value): "dictionary(\(self.decoder(of: value)))"
        case .optional(let wrapped): "nullable(\(self.decoder(of: wrapped)))"
        case .named(let name): "\(self.types[name]).decode"
        }
    }

    /// Returns the expression that converts a value to JSON, which is the value itself if that is JSON already.
    func encoded(_ value: String, _ type: ClientType, isInput: Bool = false) -> String {
        switch type {
        case .integer(let type): return type.isSafeInJavaScript || !isInput ? value : "fromLong(\(value))"
        case .date: return "\(value).toISOString()"
        case .bytes: return "fromBytes(\(value))"
        case .decimal: return "new Digits(\(value))"
        case .named(let name): return "\(self.types[name]).encode(\(value))"
        case .array(let element):
            let item = self.encoded("item", element)
            return item == "item" ? value : "\(value).map((item) => \(item))"
        case .dictionary(let element):
            let item = self.encoded("item", element)
            return item == "item" ? value : "mapped(\(value), (item) => \(item))"
        case .optional(let wrapped):
            let item = self.encoded("item", wrapped)
            return item == "item" ? value : "orNull(\(value), (item) => \(item))"
        default: return value
        }
    }
}
