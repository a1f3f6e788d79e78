/// The contents of a terminal after the bytes that were written to it: rows of text, and a cursor.
///
/// The type knows only the control characters and sequences that the shop writes. Rows that scroll out of
/// view are kept, so a test can read all text since the screen was last cleared.
struct Screen {
    /// The width of a row.
    ///
    /// Longer text continues on the next row.
    var columns: Int {
        didSet {
            // Only the rows of the alternate screen are cut. Rows with a history stay unchanged, although
            // some terminals fold them.
            if self.isWhole { self.rows = self.rows.map { Array($0.prefix(self.columns)) } }
        }
    }

    private var rows: [[Character]] = [[]]

    /// The normal screen while the alternate screen is shown; otherwise nil.
    private var normal: (rows: [[Character]], cursor: (row: Int, column: Int))?

    /// Whether the cursor is shown.
    private(set) var hasCursor = true

    /// The placeholder in the second column of a wide character.
    private static let filler: Character = "\u{0}"

    /// Whether the alternate screen is shown, which has no history.
    var isWhole: Bool { self.normal != nil }

    /// The row and the column of the cursor.
    private(set) var cursor = (row: 0, column: 0)

    /// The bytes of an incomplete character or sequence.
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
        String(String(row.filter { $0 != Self.filler }).reversed().drop { $0 == " " }.reversed())
    }
}

extension Screen {
    /// Shows the first character, or performs the first sequence, and returns its length.
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
            let width = Self.width(of: character)
            if self.cursor.column + width > self.columns {
                self.cursor.column = 0
                self.moveDown()
            }
            var row = self.rows[self.cursor.row]
            while row.count < self.cursor.column + width { row.append(" ") }
            row[self.cursor.column] = character
            if width == 2 { row[self.cursor.column + 1] = Self.filler }
            self.rows[self.cursor.row] = row
            self.cursor.column += width
        }
        return length
    }

    /// Returns whether a character takes two columns, as Chinese, Japanese and Korean do.
    private static func width(of character: Character) -> Int {
        let scalar = character.unicodeScalars.first?.value ?? 0
        return 0x2e80...0x9fff ~= scalar || 0xac00...0xd7a3 ~= scalar || 0xff00...0xff60 ~= scalar ? 2 : 1
    }

    private mutating func moveDown() {
        self.cursor.row += 1
        if self.cursor.row == self.rows.count { self.rows.append([]) }
    }

    /// Performs the sequence `ESC [ number letter`.
    private mutating func runSequence() -> Int? {
        guard self.pending.count >= 2 else { return nil }
        guard self.pending[1] == UInt8(ascii: "[") else { return 2 }
        guard let end = self.pending.dropFirst(2).firstIndex(where: { 0x40...0x7e ~= $0 }) else { return nil }
        let parameters = String(decoding: self.pending[2..<end], as: UTF8.self)
        let number = Int(parameters)
        if parameters.hasPrefix("?") {
            self.setMode(parameters, isOn: self.pending[end] == UInt8(ascii: "h"))
            return end + 1
        }
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

    private mutating func setMode(_ mode: String, isOn: Bool) {
        switch mode {
        case "?25": self.hasCursor = isOn
        case "?1049" where isOn: self.normal = (self.rows, self.cursor)
        case "?1049":
            guard let normal else { return }
            (self.rows, self.cursor) = normal
            self.normal = nil
        default: break
        }
    }
}
