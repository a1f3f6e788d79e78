/// A line on one row of a terminal.
///
/// A line that is too long is scrolled sideways, so that the cursor is visible.
struct LineView {
    let prompt: String
    let line: EditLine
    let columns: Int

    /// The text to write: the row, and the sequence that moves the cursor.
    var text: String {
        let room = Swift.max(1, self.columns - self.prompt.displayWidth - 1)
        let characters = self.line.characters
        var start = 0
        while characters[start..<self.line.cursor].displayWidth > room { start += 1 }
        var end = start
        var width = 0
        while end < characters.count, width + characters[end].displayWidth <= room {
            width += characters[end].displayWidth
            end += 1
        }
        let column = self.prompt.displayWidth + characters[start..<self.line.cursor].displayWidth
        let row = self.prompt + String(characters[start..<end])
        return "\r\(row)\u{1b}[K\r" + (column > 0 ? "\u{1b}[\(column)C" : "")
    }
}
