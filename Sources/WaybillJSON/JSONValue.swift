internal import FoundationEssentials
internal import WaybillRouting

/// A JSON value that is decoded where it is read, as the type that its reader asks for.
///
/// It holds the bytes. A `Decodable` type is decoded with Foundation's decoder: dates are ISO 8601, data is
/// Base64. What asks for no type gets text, numbers, Booleans, arrays and dictionaries.
package struct JSONValue: EncodedValue {
    /// The value's text, without white space around it.
    package let bytes: [UInt8]
    private let jsonKind: JSONKind

    /// Takes the next value from a scanner, which validates it.
    package init(_ scanner: inout JSONScanner) throws(JSONError) {
        self.jsonKind = try scanner.kind()
        self.bytes = Array(scanner.bytes[try scanner.skipValue()])
    }

    /// Takes a whole text.
    ///
    /// - Throws: the reason that it is not JSON.
    package init(parsing bytes: [UInt8], depthLimit: Int = JSONScanner.depthLimit) throws(JSONError) {
        var scanner = JSONScanner(bytes, depthLimit: depthLimit)
        try self.init(&scanner)
        try scanner.finish()
    }

    package var kind: String { "JSON \(self.jsonKind)" }

    package func decoded<Value>(as type: Value.Type) throws -> Value? {
        if let value = self.simple(as: type) { return value }
        guard let decodable = type as? any Decodable.Type else { return nil }
        return try JSONCoding.decoder.decode(decodable, from: Data(self.bytes)) as? Value
    }

    /// Text, numbers and Booleans, which need no decoder.
    private func simple<Value>(as type: Value.Type) -> Value? {
        var scanner = self.scanner
        switch self.jsonKind {
        case .string where Value.self == String.self: return (try? scanner.string()) as? Value
        case .boolean where Value.self == Bool.self: return (try? scanner.boolean()) as? Value
        case .number where Value.self == Int.self:
            if case .int(let number)? = try? scanner.number() { return number as? Value }
        case .number where Value.self == Double.self:
            switch try? scanner.number() {
            case .int(let number): return Double(exactly: number) as? Value
            case .double(let number, _): return number as? Value
            case nil: return nil
            }
        default: break
        }
        return nil
    }

    package var plain: any Sendable {
        var scanner = self.scanner
        return (try? scanner.plain()) ?? ()
    }

    /// The bytes have been validated with whatever depth their reader allowed.
    private var scanner: JSONScanner { JSONScanner(self.bytes, depthLimit: .max) }
}

extension JSONValue {
    /// The members of an object as the parameters of a message.
    ///
    /// - Parameters:
    ///   - bytes: the text of an object.
    ///   - depthLimit: how deep it may be nested.
    /// - Returns: the values as ``JSONScanner/parameter()`` reads them; of two of one name the last.
    /// - Throws: the reason that it is no JSON object.
    package static func parameters(
        of bytes: [UInt8],
        depthLimit: Int = JSONScanner.depthLimit
    ) throws(JSONError) -> [String: any Sendable] {
        var scanner = JSONScanner(bytes, depthLimit: depthLimit)
        let parameters = try scanner.parameters()
        try scanner.finish()
        return parameters
    }
}

extension JSONScanner {
    /// Reads an object as the parameters of a message.
    package mutating func parameters() throws(JSONError) -> [String: any Sendable] {
        var parameters: [String: any Sendable] = [:]
        try self.members { (name, scanner) throws(JSONError) in
            parameters[name] = try scanner.parameter()
        }
        return parameters
    }

    /// Reads a value as one parameter of a message: text, `Int`, `Double`, `Bool` and nil as they are, the
    /// rest as a ``JSONValue``.
    package mutating func parameter() throws(JSONError) -> any Sendable {
        switch try self.kind() {
        case .string: return try self.string()
        case .boolean: return try self.boolean()
        case .null:
            try self.null()
            return Optional<any Sendable>.none
        case .number:
            let start = self
            let number = try self.number()
            guard case .double(_, isInteger: true) = number else { return number.value }
            // Beyond `Int`: a reader may ask for a wider type.
            self = start
            return try JSONValue(&self)
        case .object, .array: return try JSONValue(&self)
        }
    }

    /// Reads a value as what it says by itself.
    mutating func plain() throws(JSONError) -> any Sendable {
        switch try self.kind() {
        case .string: return try self.string()
        case .boolean: return try self.boolean()
        case .number: return try self.number().value
        case .null:
            try self.null()
            return ()
        case .array:
            var values: [any Sendable] = []
            try self.elements { (scanner) throws(JSONError) in values.append(try scanner.plain()) }
            return values
        case .object:
            var values: [String: any Sendable] = [:]
            try self.members { (name, scanner) throws(JSONError) in values[name] = try scanner.plain() }
            return values
        }
    }
}
