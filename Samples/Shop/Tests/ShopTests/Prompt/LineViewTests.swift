import Testing

@testable import Shop

@Suite
struct LineViewTests {
    private func row(_ text: String, left: Int = 0, columns: Int = 10) -> String {
        var line = EditLine(text)
        line.move(by: -left)
        return LineView(prompt: "> ", line: line, columns: columns).text
    }

    @Test func `the line view places the cursor at its position in the text`() {
        #expect(self.row("abc") == "\r> abc\u{1b}[K\r\u{1b}[5C")
        #expect(self.row("abc", left: 3) == "\r> abc\u{1b}[K\r\u{1b}[2C")
    }

    @Test func `a line longer than the terminal scrolls to the cursor`() {
        #expect(self.row("abcdefghijkl") == "\r> fghijkl\u{1b}[K\r\u{1b}[9C")
        #expect(self.row("abcdefghijkl", left: 12) == "\r> abcdefg\u{1b}[K\r\u{1b}[2C")
    }

    @Test func `a Chinese character takes two columns in the line view`() {
        #expect(self.row("茶a") == "\r> 茶a\u{1b}[K\r\u{1b}[5C")
        #expect(self.row("茶茶茶茶") == "\r> 茶茶茶\u{1b}[K\r\u{1b}[8C")
    }

    @Test func `the line view shows a character even in one column`() {
        #expect(self.row("abc", columns: 1) == "\r> c\u{1b}[K\r\u{1b}[3C")
    }
}
