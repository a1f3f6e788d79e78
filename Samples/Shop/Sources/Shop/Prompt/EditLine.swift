/// The line that is being typed, with its cursor.
struct EditLine: Equatable {
    private(set) var characters: [Character] = []
    /// The number of characters before the cursor.
    private(set) var cursor = 0

    init(_ text: String = "") { self.text = text }

    /// The whole text.
    ///
    /// Setting it moves the cursor to its end.
    var text: String {
        get { String(self.characters) }
        set {
            self.characters = Array(newValue)
            self.cursor = self.characters.count
        }
    }

    /// The text before the cursor.
    var head: String { String(self.characters[..<self.cursor]) }

    mutating func insert(_ text: String) {
        let tail = String(self.characters[self.cursor...])
        // Join the texts, because a combining mark becomes part of the character before it.
        let head = self.head + text
        self.characters = Array(head + tail)
        self.cursor = Array(head).count
    }

    mutating func move(by distance: Int) {
        self.cursor = min(max(0, self.cursor + distance), self.characters.count)
    }

    mutating func moveToStart() { self.cursor = 0 }

    mutating func moveToEnd() { self.cursor = self.characters.count }

    mutating func moveWordLeft() { self.cursor = self.wordStart }

    mutating func moveWordRight() {
        while self.cursor < self.characters.count, !Self.isWord(self.characters[self.cursor]) {
            self.cursor += 1
        }
        while self.cursor < self.characters.count, Self.isWord(self.characters[self.cursor]) {
            self.cursor += 1
        }
    }

    mutating func deleteBackward() { self.delete(max(0, self.cursor - 1)..<self.cursor) }

    mutating func deleteForward() {
        self.delete(self.cursor..<min(self.cursor + 1, self.characters.count))
    }

    mutating func deleteWord() { self.delete(self.wordStart..<self.cursor) }

    mutating func deleteToStart() { self.delete(0..<self.cursor) }

    mutating func deleteToEnd() { self.delete(self.cursor..<self.characters.count) }

    private mutating func delete(_ range: Range<Int>) {
        self.characters.removeSubrange(range)
        self.cursor = range.lowerBound
    }

    /// The position where the word at the cursor begins, or the word before the cursor.
    private var wordStart: Int {
        var place = self.cursor
        while place > 0, !Self.isWord(self.characters[place - 1]) { place -= 1 }
        while place > 0, Self.isWord(self.characters[place - 1]) { place -= 1 }
        return place
    }

    private static func isWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }
}
