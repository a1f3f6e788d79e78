/// Walks over JSON text once, checks that it is valid, and says where the values of one level are.
///
/// It decodes nothing. Foundation decodes a value where it is read as a type, which most bytes of a message
/// never are: ids, methods and what is only passed on.
struct JSONScanner {
    private let bytes: [UInt8]
    private let end: Int
    private var position: Int
    private var depthLeft: Int

    private init(_ text: JSONText, depth: Int) {
        self.bytes = text.bytes
        self.end = text.range.upperBound
        self.position = text.range.lowerBound
        self.depthLeft = depth
    }

    /// Checks a frame: one value, in UTF-8, that is no deeper than the limit.
    ///
    /// - Returns: The value without the white space around it.
    static func validated(_ text: JSONText, depth: Int) throws(JSONError) -> JSONText {
        do {
            _ = try UTF8Span(validating: text.bytes.span.extracting(text.range))
        } catch {
            throw .notUTF8
        }
        var scanner = JSONScanner(text, depth: depth)
        scanner.skipSpace()
        let start = scanner.position
        try scanner.skipValue()
        let end = scanner.position
        scanner.skipSpace()
        guard scanner.position == scanner.end else { throw .malformed(at: scanner.position - start) }
        return text[start..<end]
    }

    /// Calls a closure with the name and the value of each member of an object.
    static func members(of text: JSONText, _ body: (JSONText, JSONText) -> Void) throws(JSONError) {
        var scanner = JSONScanner(text, depth: .max)
        scanner.position += 1
        scanner.skipSpace()
        if scanner.take(UInt8(ascii: "}")) { return }
        repeat {
            scanner.skipSpace()
            let name = scanner.position
            try scanner.skipString()
            let endOfName = scanner.position
            scanner.skipSpace()
            guard scanner.take(UInt8(ascii: ":")) else { throw scanner.malformed }
            scanner.skipSpace()
            let value = scanner.position
            try scanner.skipValue()
            body(text[name..<endOfName], text[value..<scanner.position])
            scanner.skipSpace()
        } while scanner.take(UInt8(ascii: ","))
    }

    /// Calls a closure with each element of an array.
    static func elements(of text: JSONText, _ body: (JSONText) -> Void) throws(JSONError) {
        var scanner = JSONScanner(text, depth: .max)
        scanner.position += 1
        scanner.skipSpace()
        if scanner.take(UInt8(ascii: "]")) { return }
        repeat {
            scanner.skipSpace()
            let value = scanner.position
            try scanner.skipValue()
            body(text[value..<scanner.position])
            scanner.skipSpace()
        } while scanner.take(UInt8(ascii: ","))
    }

    private var malformed: JSONError { .malformed(at: self.position) }

    private mutating func skipSpace() {
        while self.position < self.end {
            switch self.bytes[self.position] {
            case 0x20, 0x0A, 0x0D, 0x09: self.position += 1
            default: return
            }
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard self.position < self.end, self.bytes[self.position] == byte else { return false }
        self.position += 1
        return true
    }

    private mutating func skipValue() throws(JSONError) {
        guard self.position < self.end else { throw self.malformed }
        switch self.bytes[self.position] {
        case UInt8(ascii: "{"): try self.skipObject()
        case UInt8(ascii: "["): try self.skipArray()
        case UInt8(ascii: "\""): try self.skipString()
        case UInt8(ascii: "t"): try self.skipWord("true")
        case UInt8(ascii: "f"): try self.skipWord("false")
        case UInt8(ascii: "n"): try self.skipWord("null")
        default: try self.skipNumber()
        }
    }

    private mutating func enter() throws(JSONError) {
        guard self.depthLeft > 0 else { throw .tooDeep }
        self.depthLeft -= 1
        self.position += 1
        self.skipSpace()
    }

    private mutating func skipObject() throws(JSONError) {
        try self.enter()
        defer { self.depthLeft += 1 }
        if self.take(UInt8(ascii: "}")) { return }
        repeat {
            self.skipSpace()
            try self.skipString()
            self.skipSpace()
            guard self.take(UInt8(ascii: ":")) else { throw self.malformed }
            self.skipSpace()
            try self.skipValue()
            self.skipSpace()
        } while self.take(UInt8(ascii: ","))
        guard self.take(UInt8(ascii: "}")) else { throw self.malformed }
    }

    private mutating func skipArray() throws(JSONError) {
        try self.enter()
        defer { self.depthLeft += 1 }
        if self.take(UInt8(ascii: "]")) { return }
        repeat {
            self.skipSpace()
            try self.skipValue()
            self.skipSpace()
        } while self.take(UInt8(ascii: ","))
        guard self.take(UInt8(ascii: "]")) else { throw self.malformed }
    }

    private mutating func skipString() throws(JSONError) {
        guard self.take(UInt8(ascii: "\"")) else { throw self.malformed }
        while self.position < self.end {
            let byte = self.bytes[self.position]
            self.position += 1
            if byte == UInt8(ascii: "\"") { return }
            if byte < 0x20 { throw self.malformed }
            if byte == UInt8(ascii: "\\") { try self.skipEscape() }
        }
        throw self.malformed
    }

    private mutating func skipEscape() throws(JSONError) {
        guard self.position < self.end else { throw self.malformed }
        let escape = self.bytes[self.position]
        self.position += 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"):
            for _ in 0..<4 {
                guard self.position < self.end, Self.isHex(self.bytes[self.position]) else {
                    throw self.malformed
                }
                self.position += 1
            }
        default: throw self.malformed
        }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
    }

    private mutating func skipWord(_ word: StaticString) throws(JSONError) {
        for byte in word.description.utf8 {
            guard self.take(byte) else { throw self.malformed }
        }
    }

    private mutating func skipNumber() throws(JSONError) {
        _ = self.take(UInt8(ascii: "-"))
        if !self.take(UInt8(ascii: "0")) { try self.skipDigits() }
        if self.take(UInt8(ascii: ".")) { try self.skipDigits() }
        guard self.position < self.end, self.bytes[self.position] | 0x20 == UInt8(ascii: "e") else { return }
        self.position += 1
        if !self.take(UInt8(ascii: "+")) { _ = self.take(UInt8(ascii: "-")) }
        try self.skipDigits()
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = self.position
        while self.position < self.end, (48...57).contains(self.bytes[self.position]) { self.position += 1 }
        if self.position == start { throw self.malformed }
    }
}

/// Why bytes are no JSON that is accepted.
enum JSONError: Error, Hashable {
    /// The bytes are no UTF-8.
    case notUTF8
    /// The text is no JSON; the position is that of the first byte which cannot be right.
    case malformed(at: Int)
    /// Arrays and objects are nested deeper than the limit.
    case tooDeep
}
