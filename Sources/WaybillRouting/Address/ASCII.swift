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
