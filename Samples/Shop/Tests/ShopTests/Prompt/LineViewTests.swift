import Testing

@testable import Shop

@Suite
struct LineViewTests {
    private func row(_ text: String, left: Int = 0, columns: Int = 10) -> String {
        var line = EditLine(text)
        line.move(by: -left)
        return LineView(prompt: "> ", line: line, columns: columns).text
    }

    @Test func `the cursor stands behind the text`() {
        #expect(self.row("abc") == "\r> abc\u{1b}[K\r\u{1b}[5C")
        #expect(self.row("abc", left: 3) == "\r> abc\u{1b}[K\r\u{1b}[2C")
    }

    @Test func `a long line is scrolled so that the cursor is seen`() {
        #expect(self.row("abcdefghijkl") == "\r> fghijkl\u{1b}[K\r\u{1b}[9C")
        #expect(self.row("abcdefghijkl", left: 12) == "\r> abcdefg\u{1b}[K\r\u{1b}[2C")
    }

    @Test func `Chinese takes two columns`() {
        #expect(self.row("茶a") == "\r> 茶a\u{1b}[K\r\u{1b}[5C")
        #expect(self.row("茶茶茶茶") == "\r> 茶茶茶\u{1b}[K\r\u{1b}[8C")
    }

    @Test func `a terminal may be narrow`() {
        #expect(self.row("abc", columns: 1) == "\r> c\u{1b}[K\r\u{1b}[3C")
    }
}
