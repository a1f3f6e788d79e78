/// Reads JSON text (RFC 8259) part by part, without a tree of values.
///
/// A reader takes what it needs and skips the rest, which is validated all the same. Nesting is bounded, so
/// text from outside cannot exhaust the stack.
package struct JSONScanner: Sendable {
    /// How deep arrays and objects may be nested unless the reader says otherwise.
    package static let depthLimit = 64

    let bytes: [UInt8]
    /// Where the next part begins.
    package private(set) var index: Int
    private let end: Int
    private let depthLimit: Int
    private var depth = 0

    /// Begins to read.
    ///
    /// - Parameters:
    ///   - bytes: the text.
    ///   - range: where the value is in it; nil for all of it.
    ///   - depthLimit: how deep arrays and objects may be nested.
    package init(_ bytes: [UInt8], in range: Range<Int>? = nil, depthLimit: Int = Self.depthLimit) {
        self.bytes = bytes
        self.index = range?.lowerBound ?? 0
        self.end = range?.upperBound ?? bytes.count
        self.depthLimit = depthLimit
    }

    /// The kind of the value that comes next.
    package mutating func kind() throws(JSONError) -> JSONKind {
        self.skipSpace()
        guard let byte = self.next else { throw self.error("the text ends where a value should be") }
        switch byte {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .boolean
        case UInt8(ascii: "n"): return .null
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        default: throw self.error("this is no value")
        }
    }

    /// Skips a value, and says where it is.
    @discardableResult
    package mutating func skipValue() throws(JSONError) -> Range<Int> {
        let kind = try self.kind()
        let start = self.index
        switch kind {
        case .object: try self.members { (_, scanner) throws(JSONError) in try scanner.skipValue() }
        case .array: try self.elements { (scanner) throws(JSONError) in try scanner.skipValue() }
        case .string: _ = try self.stringRange()
        case .number: _ = try self.numberRange()
        case .boolean: _ = try self.boolean()
        case .null: try self.null()
        }
        return start..<self.index
    }

    /// Reads an object; the closure reads or skips the value of each member.
    package mutating func members(
        _ body: (_ name: String, inout JSONScanner) throws(JSONError) -> Void
    ) throws(JSONError) {
        try self.open(UInt8(ascii: "{"), "an object")
        defer { self.depth -= 1 }
        if self.take(UInt8(ascii: "}")) { return }
        while true {
            let name = try self.string()
            guard self.take(UInt8(ascii: ":")) else { throw self.error("there is no `:` behind a name") }
            try body(name, &self)
            if self.take(UInt8(ascii: "}")) { return }
            guard self.take(UInt8(ascii: ",")) else { throw self.error("an object does not end") }
        }
    }

    /// Reads an array; the closure reads or skips each element.
    package mutating func elements(
        _ body: (inout JSONScanner) throws(JSONError) -> Void
    ) throws(JSONError) {
        try self.open(UInt8(ascii: "["), "an array")
        defer { self.depth -= 1 }
        if self.take(UInt8(ascii: "]")) { return }
        while true {
            try body(&self)
            if self.take(UInt8(ascii: "]")) { return }
            guard self.take(UInt8(ascii: ",")) else { throw self.error("an array does not end") }
        }
    }

    /// Reads `true` or `false`.
    package mutating func boolean() throws(JSONError) -> Bool {
        self.skipSpace()
        if self.take("true") { return true }
        if self.take("false") { return false }
        throw self.error("this is neither true nor false")
    }

    /// Reads `null`.
    package mutating func null() throws(JSONError) {
        self.skipSpace()
        guard self.take("null") else { throw self.error("this is not null") }
    }

    /// Expects nothing but white space.
    package mutating func finish() throws(JSONError) {
        self.skipSpace()
        guard self.index == self.end else { throw self.error("there is more behind the value") }
    }
}

extension JSONScanner {
    /// Reads a number: an `Int` if it is written as one and fits, or a `Double`.
    package mutating func number() throws(JSONError) -> JSONNumber {
        let (range, isInteger) = try self.numberRange()
        let text = String(decoding: self.bytes[range], as: UTF8.self)
        if isInteger, let number = Int(text) { return .int(number) }
        guard let number = Double(text), number.isFinite else {
            throw JSONError(offset: range.lowerBound, message: "the number is too large")
        }
        return .double(number, isInteger: isInteger)
    }

    /// Where the number is that comes next, and whether it is written without fraction and exponent.
    private mutating func numberRange() throws(JSONError) -> (Range<Int>, isInteger: Bool) {
        self.skipSpace()
        let start = self.index
        var isInteger = true
        if self.next == UInt8(ascii: "-") { self.index += 1 }
        if self.next == UInt8(ascii: "0") { self.index += 1 } else { try self.digits() }
        if self.next == UInt8(ascii: ".") {
            isInteger = false
            self.index += 1
            try self.digits()
        }
        if let byte = self.next, byte | 0x20 == UInt8(ascii: "e") {
            isInteger = false
            self.index += 1
            if let sign = self.next, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
                self.index += 1
            }
            try self.digits()
        }
        return (start..<self.index, isInteger)
    }

    private mutating func digits() throws(JSONError) {
        let start = self.index
        while let byte = self.next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { self.index += 1 }
        if self.index == start { throw self.error("there should be a digit") }
    }
}

extension JSONScanner {
    private var next: UInt8? { self.index < self.end ? self.bytes[self.index] : nil }

    private mutating func skipSpace() {
        while self.index < self.end {
            switch self.bytes[self.index] {
            case 0x20, 0x09, 0x0a, 0x0d: self.index += 1
            default: return
            }
        }
    }

    private mutating func open(_ byte: UInt8, _ what: String) throws(JSONError) {
        guard self.take(byte) else { throw self.error("this is not \(what)") }
        guard self.depth < self.depthLimit else {
            throw self.error("it is nested deeper than \(self.depthLimit)")
        }
        self.depth += 1
    }

    /// Skips white space, and a byte if that comes next.
    private mutating func take(_ byte: UInt8) -> Bool {
        self.skipSpace()
        guard self.next == byte else { return false }
        self.index += 1
        return true
    }

    private mutating func take(_ word: StaticString) -> Bool {
        let count = word.utf8CodeUnitCount
        guard self.end - self.index >= count,
            self.bytes[self.index..<self.index + count].elementsEqual(word.description.utf8)
        else { return false }
        self.index += count
        return true
    }

    func error(_ message: String) -> JSONError { JSONError(offset: self.index, message: message) }

    /// Reads a string.
    package mutating func string() throws(JSONError) -> String {
        let (range, hasEscapes) = try self.stringRange()
        if hasEscapes { return try self.unescaped(range) }
        guard let text = String(validating: self.bytes[range], as: UTF8.self) else {
            throw JSONError(offset: range.lowerBound, message: "the string is not UTF-8")
        }
        return text
    }

    /// Where the content of the string is that comes next, and whether there is a backslash in it.
    private mutating func stringRange() throws(JSONError) -> (Range<Int>, hasEscapes: Bool) {
        guard self.take(UInt8(ascii: "\"")) else { throw self.error("this is not a string") }
        let start = self.index
        var hasEscapes = false
        while let byte = self.next {
            switch byte {
            case UInt8(ascii: "\""):
                self.index += 1
                return (start..<self.index - 1, hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                self.index += 1
                guard let escaped = self.next, Self.escapes.contains(escaped) else {
                    throw self.error("this cannot be escaped")
                }
                self.index += 1
            case 0..<0x20: throw self.error("a control character is not escaped")
            default: self.index += 1
            }
        }
        throw self.error("a string does not end")
    }

    private static let escapes = Set("\"\\/bfnrtu".utf8)
}
