internal import FoundationEssentials
internal import Waybill
package import WaybillRouting

/// Writes values as JSON.
package enum JSONBytes {
    /// A value as JSON.
    ///
    /// Text, numbers, Booleans, `Void` and nil are written directly, an ``JSONValue`` as it came, arrays and
    /// dictionaries of any such values element by element, and what is `Encodable` by Foundation's encoder.
    ///
    /// - Throws: `notTransferable` for a value that is not `Encodable`, or cannot be encoded.
    package static func encode(_ value: any Sendable) throws(RoutingError) -> [UInt8] {
        var bytes: [UInt8] = []
        try self.append(value, to: &bytes)
        return bytes
    }

    /// Appends a value as JSON; if it throws, nothing is appended.
    package static func append(_ value: any Sendable, to bytes: inout [UInt8]) throws(RoutingError) {
        let count = bytes.count
        do throws(RoutingError) {
            try self.write(value, to: &bytes)
        } catch {
            bytes.removeSubrange(count...)
            throw error
        }
    }

    /// Appends a string in quotation marks.
    package static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0x0a: bytes.append(contentsOf: "\\n".utf8)
            case 0x0d: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                bytes.append(contentsOf: "\\u00\(digits.count == 1 ? "0" : "")\(digits)".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func write(_ value: Any, to bytes: inout [UInt8]) throws(RoutingError) {
        switch value {
        case let text as String: self.append(text, to: &bytes)
        case let value as JSONValue: bytes.append(contentsOf: value.bytes)
        case let number as Int: bytes.append(contentsOf: "\(number)".utf8)
        case let truth as Bool: bytes.append(contentsOf: (truth ? "true" : "false").utf8)
        case let number as Double where number.isFinite: bytes.append(contentsOf: "\(number)".utf8)
        case is Void: bytes.append(contentsOf: "null".utf8)
        case let optional as any AnyOptional:
            guard let content = optional.content else { return bytes.append(contentsOf: "null".utf8) }
            try self.write(content, to: &bytes)
        case let encodable as any Encodable: try self.write(encodable, to: &bytes)
        case let values as [any Sendable]: try self.write(values, to: &bytes)
        case let values as [String: any Sendable]: try self.write(values, to: &bytes)
        case let encoded as any EncodedValue: try self.write(encoded.plain, to: &bytes)
        default: throw self.error(value, "is not Encodable")
        }
    }

    private static func write(_ values: [any Sendable], to bytes: inout [UInt8]) throws(RoutingError) {
        bytes.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            try self.write(value, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    private static func write(
        _ values: [String: any Sendable],
        to bytes: inout [UInt8]
    ) throws(RoutingError) {
        bytes.append(UInt8(ascii: "{"))
        for (index, (name, value)) in values.sorted(by: { $0.key < $1.key }).enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            self.append(name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            try self.write(value, to: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func write(_ value: any Encodable, to bytes: inout [UInt8]) throws(RoutingError) {
        do {
            bytes.append(contentsOf: try JSONCoding.encoder.encode(value))
        } catch {
            throw self.error(value, "cannot be encoded", cause: error)
        }
    }

    private static func error(_ value: Any, _ reason: String, cause: (any Error)? = nil) -> RoutingError {
        let name = TypeName.of(type(of: value))
        return RoutingError(
            .notTransferable,
            message: "a value of \(name) \(reason), which it has to be to leave the process",
            cause: cause
        )
    }
}

/// Foundation's coders, as both directions use them.
enum JSONCoding {
    static let decoder: JSONDecoder = {
        let decoder = JSONDecoder()
        #if Foundation
        decoder.dateDecodingStrategy = .custom { decoder in
            let container = try decoder.singleValueContainer()
            let text = try container.decode(String.self)
            if let date = Date(urlParameter: text) { return date }
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no date in ISO 8601")
        }
        #else
        decoder.dateDecodingStrategy = .iso8601
        #endif
        return decoder
    }()

    static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes, .sortedKeys]
        #if Foundation
        encoder.dateEncodingStrategy = .custom { date, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(date.urlParameter)
        }
        #else
        encoder.dateEncodingStrategy = .iso8601
        #endif
        return encoder
    }()
}
