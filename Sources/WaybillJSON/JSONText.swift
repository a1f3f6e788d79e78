internal import WaybillRouting

/// A JSON value as received or sent bytes.
///
/// The value is decoded only when code reads it. A value shares the bytes of the message that contains it.
/// Text from another program must be ``validated(depthLimit:)`` before it is read. Afterwards the value is
/// known to be valid JSON in UTF-8 with a limited nesting.
package struct JSONText: Sendable {
    /// The default limit on the nesting of arrays and objects.
    package static let depthLimit = 64

    package static let null = JSONText(Array("null".utf8))
    static let `true` = JSONText(Array("true".utf8))
    static let `false` = JSONText(Array("false".utf8))

    /// The range of a member's quoted name, and the range of its value, in the bytes of the object.
    package typealias Member = (name: Range<Int>, value: Range<Int>)

    let bytes: [UInt8]
    package let range: Range<Int>

    /// Creates a value from a part of a message.
    package init(bytes: [UInt8], range: Range<Int>) {
        self.bytes = bytes
        self.range = range
    }

    /// Creates a value from a whole text, without validation.
    package init(_ bytes: [UInt8]) { self.init(bytes: bytes, range: bytes.indices) }

    /// Creates a value from a whole text, after validation.
    package init(validating bytes: [UInt8]) throws(JSONError) {
        self = try JSONText(bytes).validated(depthLimit: Self.depthLimit)
    }

    /// Validates the text, and returns the value without the white space around it.
    package func validated(depthLimit: Int) throws(JSONError) -> JSONText {
        try JSONScanner.validated(self, depthLimit: depthLimit)
    }

    /// Returns whether arrays and objects are nested deeper than a limit.
    ///
    /// The text must be valid JSON.
    package func isDeeper(than limit: Int) -> Bool { JSONScanner.isDeeper(self, than: limit) }

    /// Returns another value in the same bytes.
    package subscript(range: Range<Int>) -> JSONText { JSONText(bytes: self.bytes, range: range) }

    /// The bytes of the value.
    package var slice: ArraySlice<UInt8> { self.bytes[self.range] }
}

extension JSONText {
    /// The kinds of JSON values.
    ///
    /// The first byte of a value determines its kind.
    package enum Kind: String, Sendable {
        case null, bool, number, string, array, object

        init(_ firstByte: UInt8) {
            self =
                switch firstByte {
                case UInt8(ascii: "{"): .object
                case UInt8(ascii: "["): .array
                case UInt8(ascii: "\""): .string
                case UInt8(ascii: "n"): .null
                case UInt8(ascii: "t"), UInt8(ascii: "f"): .bool
                default: .number
                }
        }
    }

    /// The kind of the value.
    package var shape: Kind { Kind(self.bytes[self.range.lowerBound]) }

    /// The content of a JSON string; nil for any other value.
    package var string: String? {
        guard self.shape == .string else { return nil }
        let content = self.bytes[self.content]
        return self.isEscaped ? JSONText.unescaped(content) : String(decoding: content, as: UTF8.self)
    }

    /// The range of a string's content.
    private var content: Range<Int> { (self.range.lowerBound + 1)..<(self.range.upperBound - 1) }

    /// Whether a string contains escapes.
    private var isEscaped: Bool {
        let content = self.bytes.span.extracting(self.content)
        return JSONScanner.count(of: content, before: UInt8(ascii: "\\")) < content.count
    }

    /// Returns whether the value is a JSON string with the given content.
    package func says(_ text: String) -> Bool { self.says(text, at: self.range) }

    /// Returns whether a value in the same bytes is a JSON string with the given content.
    package func says(_ text: String, at range: Range<Int>) -> Bool {
        let wanted = text.utf8.span
        // The range includes two quotation marks. Each byte of the content needs at least one byte in the
        // JSON string, so a shorter string cannot match.
        guard self.bytes[range.lowerBound] == UInt8(ascii: "\""), range.count - 2 >= wanted.count else {
            return false
        }
        let own = self.bytes.span.extracting((range.lowerBound + 1)..<(range.upperBound - 1))
        for index in wanted.indices {
            if own[index] == UInt8(ascii: "\\") { return self[range].string?.hasSameBytes(as: text) == true }
            if own[index] != wanted[index] { return false }
        }
        return own.count == wanted.count
    }

    /// The value of a number without a fraction and an exponent.
    ///
    /// Nil for any other value, for a number that exceeds `Int`, and for `-0`, which is different as a
    /// `Double`.
    package var int: Int? {
        guard self.shape == .number else { return nil }
        var value = 0
        let isNegative = self.bytes[self.range.lowerBound] == UInt8(ascii: "-")
        for byte in self.slice.dropFirst(isNegative ? 1 : 0) {
            guard byte >= 48, byte <= 57 else { return nil }
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let digit = Int(byte - 48)
            let (sum, overflowsToo) =
                isNegative
                ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflows || overflowsToo { return nil }
            value = sum
        }
        return value == 0 && isNegative ? nil : value
    }

    /// The value of a number, rounded to a `Double`.
    ///
    /// Nil for any other value, and for a number that exceeds `Double`.
    package var double: Double? {
        guard self.shape == .number, let number = Double(String(decoding: self.slice, as: UTF8.self)),
            number.isFinite
        else { return nil }
        return number
    }

    /// The value of `true` or `false`; nil for any other value.
    package var bool: Bool? {
        guard self.shape == .bool else { return nil }
        return self.bytes[self.range.lowerBound] == UInt8(ascii: "t")
    }

    package var isNull: Bool { self.shape == .null }

    /// The elements of an array; nil for any other value.
    package var elements: [JSONText]? {
        guard self.shape == .array else { return nil }
        var elements: [JSONText] = []
        // The text is valid, so the scan cannot fail.
        try? JSONScanner.elements(of: self) { elements.append($0) }
        return elements
    }

    /// The number of elements of an array, or of members of an object; nil for any other value.
    package var count: Int? {
        var count = 0
        switch self.shape {
        // The text is valid, so the scan cannot fail.
        case .array: try? JSONScanner.elements(of: self) { _ in count += 1 }
        case .object: self.forEachMember { _ in count += 1 }
        case .null, .bool, .number, .string: return nil
        }
        return count
    }

    /// The members of an object, in their order; nil for any other value.
    package var members: [(name: String, value: JSONText)]? {
        guard self.shape == .object else { return nil }
        var members: [(name: String, value: JSONText)] = []
        self.forEachMember { members.append((self[$0.name].string ?? "", self[$0.value])) }
        return members
    }

    /// Calls a closure with each member of an object.
    package func forEachMember(_ body: (Member) -> Void) {
        guard self.shape == .object else { return }
        // The text is valid, so the scan cannot fail.
        try? JSONScanner.members(of: self, body)
    }

    /// Returns the value of an object's member.
    ///
    /// If several members have the name, the method returns the first of them, like Foundation's decoder.
    package func member(named name: String) -> JSONText? {
        var found: Range<Int>?
        self.forEachMember { if found == nil, self.says(name, at: $0.name) { found = $0.value } }
        return found.map { self[$0] }
    }

    /// Returns the content of a string with its escapes resolved.
    private static func unescaped(_ content: ArraySlice<UInt8>) -> String {
        var units: [UInt16] = []
        var bytes: [UInt8] = []
        bytes.reserveCapacity(content.count)
        func flush() {
            bytes += String(decoding: units, as: UTF16.self).utf8
            units = []
        }
        var index = content.startIndex
        while index < content.endIndex {
            guard content[index] == UInt8(ascii: "\\") else {
                if !units.isEmpty { flush() }
                bytes.append(content[index])
                index += 1
                continue
            }
            let escape = content[index + 1]
            if escape == UInt8(ascii: "u") {
                let digits = String(decoding: content[(index + 2)..<(index + 6)], as: UTF8.self)
                units.append(UInt16(digits, radix: 16) ?? 0xFFFD)
                index += 6
                continue
            }
            if !units.isEmpty { flush() }
            bytes.append(Self.plain(escape))
            index += 2
        }
        if !units.isEmpty { flush() }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func plain(_ escape: UInt8) -> UInt8 {
        switch escape {
        case UInt8(ascii: "n"): UInt8(ascii: "\n")
        case UInt8(ascii: "r"): UInt8(ascii: "\r")
        case UInt8(ascii: "t"): UInt8(ascii: "\t")
        case UInt8(ascii: "b"): 8
        case UInt8(ascii: "f"): 12
        default: escape
        }
    }
}
