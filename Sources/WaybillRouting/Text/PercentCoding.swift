/// Percent-encoding by RFC 3986.
///
/// A `%` without two hexadecimal digits is literal.
package enum PercentCoding {
    /// Decodes the byte at `index`, and returns its value and the number of bytes that it occupies in the
    /// text.
    @inline(__always)
    package static func byte(_ bytes: Span<UInt8>, index: Int, end: Int) -> (value: UInt8, length: Int) {
        let byte = bytes[index]
        guard byte == UInt8(ascii: "%"), index &+ 2 < end, let high = ASCII.hexValue(bytes[index &+ 1]),
            let low = ASCII.hexValue(bytes[index &+ 2])
        else { return (byte, 1) }
        return (high &<< 4 | low, 3)
    }

    /// Returns whether every run of encoded bytes is valid UTF-8 by itself.
    ///
    /// The delimiters between the parts of a URL are not encoded, so a run of encoded bytes is always within
    /// one part.
    @inline(never)
    static func isValid(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        var run: [UInt8] = []
        while index < bytes.count {
            let (value, length) = self.byte(bytes, index: index, end: bytes.count)
            if length == 3 {
                run.append(value)
            } else if !run.isEmpty {
                guard String(validating: run, as: UTF8.self) != nil else { return false }
                run.removeAll(keepingCapacity: true)
            }
            index += length
        }
        return run.isEmpty || String(validating: run, as: UTF8.self) != nil
    }

    static func decode(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            let (value, length) = self.byte(bytes, index: index, end: range.upperBound)
            result.append(value)
            index += length
        }
        return result
    }

    /// Returns the decoded text of a range that is known to be valid.
    package static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
        String(decoding: self.decode(bytes, range), as: UTF8.self)
    }

    /// Encodes every byte of a text except the unreserved characters of RFC 3986.
    static func encode(text: String) -> String {
        let bytes = text.utf8.span
        for index in bytes.indices where !ASCII.isUnreserved(bytes[index]) { return self.encode(text.utf8) }
        return text
    }

    /// Encodes every byte of a sequence except the unreserved characters of RFC 3986.
    static func encode(_ text: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in text {
            if ASCII.isUnreserved(byte) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

/// Classification of ASCII bytes.
enum ASCII {
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

    /// Returns whether the byte is an unreserved character of RFC 3986.
    static func isUnreserved(_ byte: UInt8) -> Bool {
        byte != UInt8(ascii: "/") && self.isUnreservedOrSlash(byte)
    }

    /// Returns whether the byte is an unreserved character or a slash, the characters of a path.
    ///
    /// The test uses a bit mask, because it is called for each byte of a URL that is printed.
    static func isUnreservedOrSlash(_ byte: UInt8) -> Bool {
        let characters: UInt64 = byte < 64 ? 0x03ff_e000_0000_0000 : 0x47ff_fffe_87ff_fffe
        return byte < 128 && characters &>> UInt64(byte & 63) & 1 != 0
    }

    /// Returns whether the byte may follow the first letter of a scheme (RFC 3986, 3.1).
    static func isSchemeTail(_ byte: UInt8) -> Bool {
        self.isLetter(byte) || self.isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

    /// Returns whether the byte may begin a parameter's name.
    static func isNameHead(_ byte: UInt8) -> Bool { self.isLetter(byte) || byte == UInt8(ascii: "_") }

    /// Returns whether the byte may continue a parameter's name.
    static func isNameTail(_ byte: UInt8) -> Bool { self.isNameHead(byte) || self.isDigit(byte) }

    static func lowercased(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }

    /// Returns the value of a hexadecimal digit; nil for another byte.
    static func hexValue(_ byte: UInt8) -> UInt8? {
        if self.isDigit(byte) { return byte &- UInt8(ascii: "0") }
        let lower = byte | 0x20
        return lower &- UInt8(ascii: "a") < 6 ? lower &- UInt8(ascii: "a") &+ 10 : nil
    }
}
