internal import WaybillRouting

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// A scanner for JSON text (RFC 8259).
///
/// The scanner validates the text in one pass, and finds the values of its levels. It does not decode values.
/// Foundation decodes a value when code reads the value as a type. Most bytes of a message are never decoded,
/// such as IDs, methods, and forwarded values. The nesting is limited, so a text from another program cannot
/// exhaust the stack.
struct JSONScanner {
    private let bytes: [UInt8]
    private let start: Int
    private let end: Int
    private var position: Int
    private let depthLimit: Int
    private var depth = 0
    /// Whether the text was validated before, so that the scanner only searches for the ends of values.
    private let isKnown: Bool
    private let isASCII: Bool
    /// The number of levels of objects and arrays whose children are recorded.
    private var levels: Int
    private var places: [JSONOutline.Place] = []

    /// The element count above which an array has no recorded children, unless it is the whole text.
    private static let elementLimit = 1024

    /// Creates a scanner for a text that was validated before.
    private init(known text: JSONText, depthLimit: Int = .max) {
        self.init(text, depthLimit: depthLimit, levels: 0, isKnown: true, isASCII: true)
    }

    /// Creates a scanner for a text that has not been validated, or throws `notUTF8`.
    private init(checking text: JSONText, depthLimit: Int, levels: Int = 0) throws(JSONError) {
        let isASCII = try Self.checkedUTF8(text)
        self.init(text, depthLimit: depthLimit, levels: levels, isKnown: false, isASCII: isASCII)
    }

    private init(_ text: JSONText, depthLimit: Int, levels: Int, isKnown: Bool, isASCII: Bool) {
        self.levels = levels
        self.bytes = text.bytes
        self.isKnown = isKnown
        self.isASCII = isASCII
        self.end = text.range.upperBound
        self.start = text.range.lowerBound
        self.position = self.start
        self.depthLimit = depthLimit
    }

    /// Validates that a text is one value in UTF-8, and that its nesting does not exceed a limit.
    ///
    /// The result is the value without the white space around it.
    static func validated(_ text: JSONText, depthLimit: Int) throws(JSONError) -> JSONText {
        var scanner = try JSONScanner(checking: text, depthLimit: depthLimit)
        return text[try scanner.skipWhole()]
    }

    /// Validates a text like ``validated(_:depthLimit:)``, and records the values of its first levels.
    static func outlined(
        _ text: JSONText,
        depthLimit: Int,
        levels: Int
    ) throws(JSONError) -> (text: JSONText, places: [JSONOutline.Place], isASCII: Bool) {
        // The offsets of places have 32 bits.
        guard text.bytes.count <= UInt32.max else { throw .tooLong }
        var scanner = try JSONScanner(checking: text, depthLimit: depthLimit, levels: levels)
        scanner.places.reserveCapacity(16)
        scanner.skipSpace()
        scanner.note(0..<0)
        let range = try scanner.skipWhole()
        scanner.endNote(0, at: range.upperBound)
        return (text[range], scanner.places, scanner.isASCII)
    }

    /// Returns whether a text is ASCII, or throws `notUTF8`.
    private static func checkedUTF8(_ text: JSONText) throws(JSONError) -> Bool {
        do {
            return try UTF8Span(validating: text.bytes.span.extracting(text.range)).isKnownASCII
        } catch {
            throw .notUTF8
        }
    }

    /// Skips the only value of the text, and returns its range.
    private mutating func skipWhole() throws(JSONError) -> Range<Int> {
        self.skipSpace()
        let start = self.position
        try self.skipValue()
        let end = self.position
        self.skipSpace()
        guard self.position == self.end else { throw self.malformed }
        return start..<end
    }

    /// Records the value that begins at the current position.
    private mutating func note(_ name: Range<Int>) {
        self.places.append(
            JSONOutline.Place(
                name: UInt32(name.lowerBound)..<UInt32(name.upperBound),
                start: UInt32(self.position),
                end: 0,
                next: 0
            )
        )
    }

    private mutating func endNote(_ index: Int, at end: Int) {
        self.places[index].end = UInt32(end)
        self.places[index].next = UInt32(self.places.count)
    }

    /// Returns whether arrays and objects of a valid text are nested deeper than a limit.
    static func isDeeper(_ text: JSONText, than limit: Int) -> Bool {
        // If the text has fewer arrays and objects than the limit, as most texts do, the text cannot be
        // nested deeper.
        let bytes = text.bytes.span.extracting(text.range)
        let objects = Self.number(of: UInt8(ascii: "{"), in: bytes, limit: limit)
        let arrays = Self.number(of: UInt8(ascii: "["), in: bytes, limit: limit)
        if objects + arrays <= limit { return false }
        var scanner = JSONScanner(known: text, depthLimit: limit)
        do {
            try scanner.skipValue()
        } catch {
            if case .tooDeep = error { return true }
        }
        return false
    }

    /// Calls a closure with each member of an object in a valid text.
    static func members(of text: JSONText, _ body: (JSONText.Member) -> Void) throws(JSONError) {
        var scanner = JSONScanner(known: text)
        try scanner.enter()
        if scanner.take(UInt8(ascii: "}")) { return }
        repeat {
            let name = try scanner.skipName()
            let value = scanner.position
            try scanner.skipValue()
            body((name, value..<scanner.position))
            scanner.skipSpace()
        } while scanner.take(UInt8(ascii: ","))
    }

    /// Skips the name of a member up to its value, and returns the range of the name.
    private mutating func skipName() throws(JSONError) -> Range<Int> {
        self.skipSpace()
        let start = self.position
        try self.skipString()
        let end = self.position
        self.skipSpace()
        guard self.take(UInt8(ascii: ":")) else { throw self.malformed }
        self.skipSpace()
        return start..<end
    }

    /// Calls a closure with each element of an array in a valid text.
    static func elements(of text: JSONText, _ body: (JSONText) -> Void) throws(JSONError) {
        var scanner = JSONScanner(known: text)
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

    private var malformed: JSONError { .malformed(at: self.position - self.start) }

    /// Skips white space.
    ///
    /// The usual case is fast, because most programs write no white space.
    @inline(__always)
    private mutating func skipSpace() {
        if self.position < self.end, self.bytes[self.position] <= 0x20 { self.skipSpaces() }
    }

    private mutating func skipSpaces() {
        while self.position < self.end {
            switch self.bytes[self.position] {
            case 0x20, 0x0A, 0x0D, 0x09: self.position += 1
            default: return
            }
        }
    }

    @inline(__always)
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
        case UInt8(ascii: "t"): try self.skip(JSONText.true)
        case UInt8(ascii: "f"): try self.skip(JSONText.false)
        case UInt8(ascii: "n"): try self.skip(JSONText.null)
        default: try self.skipNumber()
        }
    }

    private mutating func enter() throws(JSONError) {
        guard self.depth < self.depthLimit else { throw .tooDeep(limit: self.depthLimit) }
        self.depth += 1
        self.position += 1
        self.skipSpace()
    }

    private mutating func skipObject() throws(JSONError) {
        try self.enter()
        defer { self.depth -= 1 }
        if self.take(UInt8(ascii: "}")) { return }
        let isNoted = self.depth <= self.levels
        repeat {
            let name = try self.skipName()
            let index = self.places.count
            if isNoted { self.note(name) }
            try self.skipValue()
            if isNoted { self.endNote(index, at: self.position) }
            self.skipSpace()
        } while self.take(UInt8(ascii: ","))
        guard self.take(UInt8(ascii: "}")) else { throw self.malformed }
    }

    private mutating func skipArray() throws(JSONError) {
        try self.enter()
        defer { self.depth -= 1 }
        if self.take(UInt8(ascii: "]")) { return }
        let levels = self.levels
        defer { self.levels = levels }
        let start = self.places.count
        var count = 0
        repeat {
            self.skipSpace()
            if count == Self.elementLimit, self.depth > 1, self.depth <= levels {
                self.places.removeSubrange(start...)
                self.levels = 0
            }
            count += 1
            let isNoted = self.depth <= self.levels
            let index = self.places.count
            if isNoted { self.note(0..<0) }
            try self.skipValue()
            if isNoted { self.endNote(index, at: self.position) }
            self.skipSpace()
        } while self.take(UInt8(ascii: ","))
        guard self.take(UInt8(ascii: "]")) else { throw self.malformed }
    }

    private mutating func skipString() throws(JSONError) {
        guard self.take(UInt8(ascii: "\"")) else { throw self.malformed }
        if self.isKnown { return try self.skipRestOfKnownString() }
        let start = self.position - 1
        var isEscaped = false
        while true {
            self.position = self.endOfPlainCharacters
            guard self.position < self.end else { throw self.malformed }
            let byte = self.bytes[self.position]
            self.position += 1
            if byte == UInt8(ascii: "\"") { break }
            if byte != UInt8(ascii: "\\") { throw self.malformed }
            isEscaped = true
            try self.skipEscape()
        }
        if isEscaped || !self.isASCII { try self.checkMarks(of: start..<self.position, isEscaped) }
    }

    /// Throws an error if a string has too many consecutive combining marks.
    private func checkMarks(of string: Range<Int>, _ isEscaped: Bool) throws(JSONError) {
        guard string.count >= CombiningMarks.shortestExcess else { return }
        let bytes = self.bytes.span.extracting(string)
        let areFew = isEscaped ? CombiningMarks.areFew(inEscaped: bytes) : CombiningMarks.areFew(in: bytes)
        if !areFew { throw .combiningMarks(at: string.lowerBound - self.start) }
    }

    /// Skips the remaining bytes of a validated string, up to its closing quotation mark.
    ///
    /// A quotation mark ends the string if an even number of backslashes, or none, precedes it.
    private mutating func skipRestOfKnownString() throws(JSONError) {
        while true {
            let place = self.nextQuotationMark
            guard place < self.end else { throw self.malformed }
            self.position = place + 1
            var start = place
            while self.bytes[start - 1] == UInt8(ascii: "\\") { start -= 1 }
            if (place - start).isMultiple(of: 2) { return }
        }
    }

    /// Returns the number of occurrences of a byte, and stops counting when the number exceeds the limit.
    private static func number(of byte: UInt8, in bytes: Span<UInt8>, limit: Int) -> Int {
        var (number, place) = (0, 0)
        while number <= limit {
            place += self.count(of: bytes.extracting(place..<bytes.count), before: byte) + 1
            if place > bytes.count { break }
            number += 1
        }
        return number
    }

    private var nextQuotationMark: Int {
        let rest = self.bytes.span.extracting(self.position..<self.end)
        return self.position + Self.count(of: rest, before: UInt8(ascii: "\""))
    }

    /// Returns the number of bytes before the first occurrence of a byte, or the number of all bytes.
    static func count(of bytes: Span<UInt8>, before byte: UInt8) -> Int {
        // `memchr` does not read more than `bytes.count` bytes.
        unsafe bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, let found = unsafe memchr(start, Int32(byte), bytes.count)
            else { return bytes.count }
            return unsafe UnsafeRawPointer(found) - start
        }
    }

    /// The position of the next byte in a string that needs special handling.
    ///
    /// Most bytes of a message need no special handling.
    private var endOfPlainCharacters: Int {
        self.position + Self.plainCount(self.bytes.span.extracting(self.position..<self.end))
    }

    /// Returns the number of bytes at the beginning of a string that need no escapes.
    static func plainCount(_ bytes: Span<UInt8>) -> Int {
        ByteWord.count(of: bytes, beforeControlOr: UInt8(ascii: "\""), UInt8(ascii: "\\"))
    }

    private mutating func skipEscape() throws(JSONError) {
        guard self.position < self.end else { throw self.malformed }
        let escape = self.bytes[self.position]
        self.position += 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
            UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return
        case UInt8(ascii: "u"): try self.skipCharacter()
        default: throw self.malformed
        }
    }

    /// Skips the digits of `\uXXXX`, and the second escape if the unit is the first of a surrogate pair.
    private mutating func skipCharacter() throws(JSONError) {
        let unit = try self.codeUnit()
        guard UTF16.isSurrogate(unit) else { return }
        guard UTF16.isLeadSurrogate(unit), self.take(UInt8(ascii: "\\")), self.take(UInt8(ascii: "u")),
            UTF16.isTrailSurrogate(try self.codeUnit())
        else { throw self.malformed }
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard self.position < self.end, let digit = Self.hexDigit(self.bytes[self.position]) else {
                throw self.malformed
            }
            unit = unit << 4 | UInt16(digit)
            self.position += 1
        }
        return unit
    }

    /// Returns the value of a hexadecimal digit, or nil for any other byte.
    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private mutating func skip(_ word: JSONText) throws(JSONError) {
        for byte in word.bytes {
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
