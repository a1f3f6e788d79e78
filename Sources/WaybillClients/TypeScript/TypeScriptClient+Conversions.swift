// Types and their conversions.
extension TypeScriptClient {
    /// Returns the name of a type.
    ///
    /// In a reply, the type without a value is `void`. In an argument (`isInput`), whole numbers of 64 bits
    /// may also be `number`.
    func name(of type: ClientType, isReply: Bool = false, isInput: Bool = false) -> String {
        if isReply, type == .nothing { return "void" }
        let name = self.reading(of: type).name
        return isInput && name == "bigint" ? "number | bigint" : name
    }

    func decoder(of type: ClientType) -> String { self.reading(of: type).decoder }

    /// Returns the name of a type, and the function that decodes its values.
    private func reading(of type: ClientType) -> (name: String, decoder: String) {
        switch type {
        case .json, .optional(.json): return ("JSONValue", "plain")
        case .nothing: return ("null", "nothing")
        case .boolean: return ("boolean", "boolean")
        case .text, .uuid: return ("string", "text")
        case .integer(let type): return type.isSafeInJavaScript ? ("number", "integer") : ("bigint", "long")
        case .number: return ("number", "float")
        case .decimal: return ("string", "decimal")
        case .date: return ("Date", "date")
        case .bytes: return ("Uint8Array", "bytes")
        case .literal(let text): return (text.quotedText, "literal(\(text.quotedText))")
        case .named(let name): return (self.types[name], "\(self.types[name]).decode")
        case .array(let element):
            let (name, decoder) = self.reading(of: element)
            let item = element.isOptional || element.isCollection ? "(\(name))" : name
            return ("readonly \(item)[]", "array(\(decoder))")
        case .dictionary(let value):
            let (name, decoder) = self.reading(of: value)
            return ("{ readonly [name: string]: \(name) }", "dictionary(\(decoder))")
        case .optional(let wrapped):
            let (name, decoder) = self.reading(of: wrapped)
            return ("\(name) | null", "nullable(\(decoder))")
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
