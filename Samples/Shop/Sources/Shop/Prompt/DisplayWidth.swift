extension Character {
    /// The number of columns of the character: two for Chinese, Japanese, Korean and emoji.
    var displayWidth: Int {
        guard let scalar = self.unicodeScalars.first else { return 0 }
        return Self.wide.contains { $0.contains(scalar.value) } ? 2 : 1
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
        0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1f9ff,
        0x20000...0x3fffd,
    ]
}

extension Sequence<Character> {
    /// The number of columns of the text in a terminal.
    var displayWidth: Int { self.reduce(0) { $0 + $1.displayWidth } }
}
