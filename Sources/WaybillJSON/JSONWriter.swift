internal import FoundationEssentials
package import WaybillRouting

/// Writes JSON into an array of bytes.
///
/// The writer itself encodes the values of most messages: texts, numbers, Booleans and Void. Foundation
/// encodes all other `Encodable` types.
package struct JSONWriter {
    package private(set) var bytes: [UInt8] = []
    /// Whether the text contains no array, no object and no JSON value that was encoded before.
    ///
    /// The nesting of a flat text is known and need not be checked.
    package private(set) var isFlat = true

    package init(capacity: Int = 128) { self.bytes.reserveCapacity(capacity) }

    /// Discards the text, so that another text can be written.
    ///
    /// The memory is reused unless it is large.
    package mutating func restart() {
        self.bytes.removeAll(keepingCapacity: self.bytes.count <= 1 << 16)
        self.isFlat = true
    }

    /// Appends text that is already JSON.
    package mutating func raw(_ text: String) {
        var text = text
        // The bytes are copied before the pointer becomes invalid.
        text.withUTF8 { unsafe self.bytes.append(contentsOf: $0) }
    }

    package mutating func raw(_ text: JSONText) { self.raw(text.slice) }

    package mutating func raw(_ bytes: ArraySlice<UInt8>) {
        self.isFlat = false
        self.bytes += bytes
    }

    /// Appends a string with its quotation marks.
    package mutating func string(_ text: String) {
        self.bytes.append(UInt8(ascii: "\""))
        defer { self.bytes.append(UInt8(ascii: "\"")) }
        // Most texts need no escapes, so copy them as a whole.
        if JSONScanner.plainCount(text.utf8.span) == text.utf8.count { return self.raw(text) }
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                self.bytes.append(UInt8(ascii: "\\"))
                self.bytes.append(byte)
            case 0x0A: self.raw("\\n")
            case 0x0D: self.raw("\\r")
            case 0x09: self.raw("\\t")
            case 0..<0x20:
                let digits = String(byte, radix: 16)
                self.raw(digits.utf8.count == 1 ? "\\u000\(digits)" : "\\u00\(digits)")
            default: self.bytes.append(byte)
            }
        }
    }

    /// Appends the name of a member and a colon.
    ///
    /// A comma precedes every name except the first.
    package mutating func name(_ name: String, isFirst: Bool = false) {
        if !isFirst { self.bytes.append(UInt8(ascii: ",")) }
        self.string(name)
        self.bytes.append(UInt8(ascii: ":"))
    }

    /// Appends an object with text values.
    package mutating func object(_ values: [String: String]) {
        self.raw("{")
        for (index, (name, value)) in values.sorted(by: { $0.key < $1.key }).enumerated() {
            self.name(name, isFirst: index == 0)
            self.string(value)
        }
        self.raw("}")
    }

    /// Appends a value of any type that can be encoded.
    ///
    /// - Throws: ``WaybillRouting/RoutingError`` with the code `notTransferable` and an empty URL. The text
    ///   is then invalid and must not be used.
    package mutating func value(_ value: any Sendable) throws(RoutingError) { try self.untyped(value) }

    /// Returns the JSON of a value of any type that can be encoded.
    ///
    /// - Throws: ``WaybillRouting/RoutingError`` with the code `notTransferable` and an empty URL.
    package static func encoded(_ value: any Sendable) throws(RoutingError) -> [UInt8] {
        var writer = JSONWriter()
        try writer.value(value)
        return writer.bytes
    }

    private mutating func untyped(_ value: Any) throws(RoutingError) {
        if self.simple(value) { return }
        switch value {
        case let value as any Encodable: try self.encode(value)
        case let value as any EncodedValue: try self.value(value.plain)
        case let value as any OptionalValue:
            if let wrapped = value.wrapped { try self.untyped(wrapped) } else { self.raw("null") }
        case let values as [Any]: try self.array(values)
        case let values as [String: Any]: try self.object(values)
        default: throw Self.notTransferable(value, nil)
        }
    }

    /// Appends a value of a type that the writer encodes itself.
    ///
    /// Returns false for any other type, and for a number that JSON cannot represent.
    private mutating func simple(_ value: Any) -> Bool {
        if let value = Self.exactly(value, Int.self) {
            self.raw(String(value))
        } else if let value = Self.exactly(value, String.self) {
            self.string(value)
        } else if let value = Self.exactly(value, JSONText.self) {
            self.raw(value)
        } else if let value = Self.exactly(value, Bool.self) {
            self.raw(value ? "true" : "false")
        } else if let value = Self.exactly(value, Double.self), value.isFinite {
            self.raw("\(value)")
        } else if type(of: value) == Void.self {
            self.raw("null")
        } else {
            return false
        }
        return true
    }

    /// Returns a value as a type, or nil when the dynamic type of the value is a different type.
    ///
    /// The method compares the types first, because a failed cast costs as much as writing a number.
    private static func exactly<Value>(_ value: Any, _ type: Value.Type) -> Value? {
        Swift.type(of: value) == type ? value as? Value : nil
    }

    private mutating func array(_ values: [Any]) throws(RoutingError) {
        self.isFlat = false
        self.raw("[")
        for (index, value) in values.enumerated() {
            if index > 0 { self.raw(",") }
            try self.untyped(value)
        }
        self.raw("]")
    }

    private mutating func object(_ values: [String: Any]) throws(RoutingError) {
        self.isFlat = false
        self.raw("{")
        for (index, (name, value)) in values.sorted(by: { $0.key < $1.key }).enumerated() {
            self.name(name, isFirst: index == 0)
            try self.untyped(value)
        }
        self.raw("}")
    }

    private mutating func encode(_ value: any Encodable) throws(RoutingError) {
        do {
            self.isFlat = false
            self.bytes += try JSONCoding.encoder.encode(value)
        } catch {
            throw Self.notTransferable(value, error)
        }
    }

    private static func notTransferable(_ value: Any, _ cause: (any Error)?) -> RoutingError {
        let type = TypeName.of(Swift.type(of: value))
        let message =
            cause == nil
            ? "a value of type \(type) cannot be sent to another process, because the type is not Encodable"
            : "a value of type \(type) could not be encoded"
        return RoutingError(.notTransferable, message: message, cause: cause)
    }
}

extension RoutingError {
    /// Returns the error of a value that cannot be encoded, with the name of the value and the URL of its
    /// message.
    package func naming(_ name: String, at url: String) -> RoutingError {
        RoutingError(self.code, url: url, message: "\(name): \(self.message)", cause: self.cause)
    }
}

extension JSONText {
    /// Creates the JSON text of a value of any type that can be encoded.
    ///
    /// - Throws: ``WaybillRouting/RoutingError`` with the code `notTransferable` and an empty URL.
    package init(encoding value: any Sendable) throws(RoutingError) {
        // Compare the types first, because a failed cast takes longer than encoding most values.
        if type(of: value) == JSONText.self, let text = value as? JSONText {
            self = text
            return
        }
        self.init(try JSONWriter.encoded(value))
    }

    package init(_ value: Bool) { self.init(Array((value ? "true" : "false").utf8)) }

    package init(_ value: Int) { self.init(Array(String(value).utf8)) }

    package init(_ value: String) {
        var writer = JSONWriter()
        writer.string(value)
        self.init(writer.bytes)
    }
}

/// An optional whose type is erased.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}
