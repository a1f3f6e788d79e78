/// Percent-encoding as RFC 3986 has it, but that a stray `%` stands for itself.
enum PercentCoding {
    /// The byte that begins at `index`, decoded, and how many bytes of the text it takes.
    @inline(__always)
    static func byte(_ bytes: Span<UInt8>, _ index: Int, _ end: Int) -> (value: UInt8, length: Int) {
        let byte = bytes[index]
        guard byte == UInt8(ascii: "%"), index &+ 2 < end, let high = ASCII.hexValue(bytes[index &+ 1]),
            let low = ASCII.hexValue(bytes[index &+ 2])
        else { return (byte, 1) }
        return (high &<< 4 | low, 3)
    }

    /// Whether every run of encoded bytes is UTF-8 by itself.
    ///
    /// What separates the parts of a URL is never encoded, so no run reaches beyond its part.
    @inline(never)
    static func isValid(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        var run: [UInt8] = []
        while index < bytes.count {
            let (value, length) = self.byte(bytes, index, bytes.count)
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

    /// The decoded bytes of a part of a text.
    static func decode(_ bytes: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            let (value, length) = self.byte(bytes, index, range.upperBound)
            result.append(value)
            index += length
        }
        return result
    }

    /// The decoded text of a part of a text that is known to be valid.
    static func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
        String(decoding: self.decode(bytes, range), as: UTF8.self)
    }

    /// The text with every byte encoded that could mean something in a URL, or may not stand in one.
    static func encode(_ text: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in text {
            if ASCII.isLetter(byte) || ASCII.isDigit(byte) || "-._~".utf8.contains(byte) {
                result.append(byte)
            } else {
                result += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

/// The few questions about bytes that routing asks.
enum ASCII {
    @inline(__always)
    static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    @inline(__always)
    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

    /// Whether a scheme may go on with this byte (RFC 3986, 3.1).
    @inline(__always)
    static func isSchemeTail(_ byte: UInt8) -> Bool {
        self.isLetter(byte) || self.isDigit(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

    /// Whether a name of a parameter may begin with this byte.
    @inline(__always)
    static func isNameHead(_ byte: UInt8) -> Bool { self.isLetter(byte) || byte == UInt8(ascii: "_") }

    /// Whether a name of a parameter may go on with this byte.
    @inline(__always)
    static func isNameTail(_ byte: UInt8) -> Bool { self.isNameHead(byte) || self.isDigit(byte) }

    /// The byte in lower case.
    @inline(__always)
    static func lowercased(_ byte: UInt8) -> UInt8 { byte &- UInt8(ascii: "A") < 26 ? byte | 0x20 : byte }

    /// The value of a hexadecimal digit.
    @inline(__always)
    static func hexValue(_ byte: UInt8) -> UInt8? {
        if self.isDigit(byte) { return byte &- UInt8(ascii: "0") }
        let lower = byte | 0x20
        return lower &- UInt8(ascii: "a") < 6 ? lower &- UInt8(ascii: "a") &+ 10 : nil
    }
}
