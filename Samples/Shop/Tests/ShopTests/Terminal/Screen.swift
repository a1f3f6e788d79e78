/// What a terminal shows after the bytes that were written to it: rows of text, and a cursor.
///
/// It knows the control characters and sequences that the shop writes, and no others. Rows that scrolled out
/// of view are kept, so a test can read everything since the screen was last cleared.
struct Screen {
    /// How wide a row is; what is longer goes on in the next row.
    var columns: Int

    private var rows: [[Character]] = [[]]

    /// The row and the column of the cursor.
    private(set) var cursor = (row: 0, column: 0)

    /// The bytes of a character or a sequence that is not complete.
    private var pending: [UInt8] = []

    init(columns: Int) { self.columns = columns }

    /// The text of each row, without spaces at its end.
    var lines: [String] { self.rows.map(Self.text) }

    /// The text of the cursor's row.
    var line: String { Self.text(of: self.rows[self.cursor.row]) }

    /// Shows bytes, which may end in the middle of a character.
    mutating func write(_ bytes: some Sequence<UInt8>) {
        self.pending.append(contentsOf: bytes)
        while let length = self.writeFirst() { self.pending.removeFirst(length) }
    }

    private static func text(of row: [Character]) -> String {
        String(String(row).reversed().drop { $0 == " " }.reversed())
    }
}

extension Screen {
    /// Shows the first character, or does what the first sequence says, and returns how long it was.
    private mutating func writeFirst() -> Int? {
        guard let byte = self.pending.first else { return nil }
        switch byte {
        case 0x0d: self.cursor.column = 0
        case 0x0a: self.moveDown()
        case 0x07, 0x00: break
        case 0x08: self.cursor.column = max(0, self.cursor.column - 1)
        case 0x1b: return self.runSequence()
        default: return self.put()
        }
        return 1
    }

    private mutating func put() -> Int? {
        let length =
            switch self.pending[0] {
            case 0xc2...0xdf: 2
            case 0xe0...0xef: 3
            case 0xf0...0xf4: 4
            default: 1
            }
        guard self.pending.count >= length else { return nil }
        for character in String(decoding: self.pending.prefix(length), as: UTF8.self) {
            if self.cursor.column == self.columns {
                self.cursor.column = 0
                self.moveDown()
            }
            var row = self.rows[self.cursor.row]
            while row.count <= self.cursor.column { row.append(" ") }
            row[self.cursor.column] = character
            self.rows[self.cursor.row] = row
            self.cursor.column += 1
        }
        return length
    }

    private mutating func moveDown() {
        self.cursor.row += 1
        if self.cursor.row == self.rows.count { self.rows.append([]) }
    }

    /// Runs `ESC [ number letter`.
    private mutating func runSequence() -> Int? {
        guard self.pending.count >= 2 else { return nil }
        guard self.pending[1] == UInt8(ascii: "[") else { return 2 }
        guard let end = self.pending.dropFirst(2).firstIndex(where: { 0x40...0x7e ~= $0 }) else { return nil }
        let number = Int(String(decoding: self.pending[2..<end], as: UTF8.self))
        switch self.pending[end] {
        case UInt8(ascii: "C"): self.cursor.column = min(self.columns - 1, self.cursor.column + (number ?? 1))
        case UInt8(ascii: "H"): self.cursor = (0, 0)
        case UInt8(ascii: "J"): self.rows = Array(repeating: [], count: self.cursor.row + 1)
        case UInt8(ascii: "K"):
            let row = self.rows[self.cursor.row]
            self.rows[self.cursor.row] = Array(row.prefix(self.cursor.column))
        default: break
        }
        return end + 1
    }
}
