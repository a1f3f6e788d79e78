/// Decodes the bytes of a terminal as keys.
///
/// Bytes may arrive in any pieces. An incomplete key waits for the next piece.
struct KeyDecoder {
    private var pending: [UInt8] = []

    /// Returns the keys that these bytes complete.
    mutating func decode(_ bytes: some Sequence<UInt8>) -> [Key] {
        self.pending.append(contentsOf: bytes)
        var keys: [Key] = []
        while let (key, length) = self.first() {
            self.pending.removeFirst(length)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// Whether Escape was pressed, or a sequence has begun and is not complete.
    var isInEscape: Bool { self.pending.first == 0x1b }

    /// Returns the keys of an incomplete sequence: Escape, and the keys pressed after it.
    mutating func endEscape() -> [Key] {
        guard self.isInEscape else { return [] }
        let rest = self.pending.dropFirst()
        self.pending = []
        return [.escape] + self.decode(rest)
    }

    /// Returns the first key, or nil for an unknown key, with its length.
    ///
    /// Returns nil if the sequence is incomplete.
    private func first() -> (key: Key?, length: Int)? {
        guard let byte = self.pending.first else { return nil }
        switch byte {
        case 0x1b: return self.escape()
        case 0x0d, 0x0a: return (.enter, 1)
        case 0x09: return (.tab, 1)
        case 0x7f, 0x08: return (.backspace, 1)
        case 0x01...0x1a: return (.control(Character(Unicode.Scalar(byte + 0x60))), 1)
        case 0x00..<0x20: return (nil, 1)
        default: return self.character(byte)
        }
    }

    private func character(_ byte: UInt8) -> (key: Key?, length: Int)? {
        let length =
            switch byte {
            case 0xc2...0xdf: 2
            case 0xe0...0xef: 3
            case 0xf0...0xf4: 4
            default: 1
            }
        guard self.pending.count >= length else { return nil }
        guard let text = String(validating: self.pending.prefix(length), as: UTF8.self) else {
            return (nil, 1)
        }
        guard let scalar = text.unicodeScalars.first, scalar.properties.generalCategory != .control else {
            return (nil, length)
        }
        return (.character(Character(scalar)), length)
    }

    /// Decodes a sequence that begins with Escape: `ESC [ parameters letter`, `ESC O letter`, `ESC letter`.
    private func escape() -> (key: Key?, length: Int)? {
        guard self.pending.count >= 2 else { return nil }
        switch self.pending[1] {
        case UInt8(ascii: "b"): return (.wordLeft, 2)
        case UInt8(ascii: "f"): return (.wordRight, 2)
        case UInt8(ascii: "["), UInt8(ascii: "O"): break
        default: return (nil, 2)
        }
        guard let end = self.pending.dropFirst(2).firstIndex(where: { 0x40...0x7e ~= $0 }) else {
            // No terminal sends a sequence of this length.
            return self.pending.count > 16 ? (nil, self.pending.count) : nil
        }
        let parameters = String(decoding: self.pending[2..<end], as: UTF8.self)
        return (Self.key(parameters, final: self.pending[end]), end + 1)
    }

    private static func key(_ parameters: String, final: UInt8) -> Key? {
        // A modifier stands behind a semicolon: `1;5C` is Ctrl and the right arrow.
        let isWord = parameters.hasSuffix(";5") || parameters.hasSuffix(";3")
        switch (final, parameters) {
        case (UInt8(ascii: "A"), _): return .up
        case (UInt8(ascii: "B"), _): return .down
        case (UInt8(ascii: "C"), _): return isWord ? .wordRight : .right
        case (UInt8(ascii: "D"), _): return isWord ? .wordLeft : .left
        case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), "1"), (UInt8(ascii: "~"), "7"): return .home
        case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), "4"), (UInt8(ascii: "~"), "8"): return .end
        case (UInt8(ascii: "~"), "3"): return .delete
        default: return nil
        }
    }
}
