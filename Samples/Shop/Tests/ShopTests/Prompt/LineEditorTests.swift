import Testing

@testable import Shop

@Suite
struct LineEditorTests {
    private let completer = Completer(words: [
        "app://cart/add", "app://cart/add?product=tea", "app://orders/mine",
    ])

    private func type(_ keys: [Key], history: [String] = []) -> (editor: LineEditor, last: LineEditor.Action)
    {
        var editor = LineEditor(history: history, completer: self.completer)
        var last = LineEditor.Action.redraw
        for key in keys { last = editor.handle(key) }
        return (editor, last)
    }

    private func keys(_ text: String) -> [Key] { text.map { .character($0) } }

    @Test func `the line editor accepts typed text at Enter`() {
        #expect(self.type(self.keys("tea 茶") + [.enter]).last == .accept("tea 茶"))
    }

    @Test func `the line editor inserts and deletes text at the cursor`() {
        let typed = self.type(
            self.keys("abc def") + [
                .wordLeft, .character("x"), .home, .delete, .end, .backspace, .left, .control("k"),
            ]
        )
        #expect(typed.editor.line.text == "bc xd")
        #expect(typed.editor.line.cursor == 5)
        #expect(self.type(self.keys("abc def") + [.control("w")]).editor.line.text == "abc ")
        #expect(self.type(self.keys("abc") + [.left, .control("u")]).editor.line.text == "c")
    }

    @Test func `Backspace deletes a letter together with its combining accent`() {
        let line = self.type([.character("e"), .character("\u{301}"), .backspace]).editor.line
        #expect(line.text.isEmpty && line.cursor == 0)
    }

    @Test func `the line editor browses the history, and restores the begun line`() {
        let history = ["one", "two"]
        #expect(self.type([.up], history: history).editor.line.text == "two")
        #expect(self.type([.up, .up, .up], history: history).editor.line.text == "one")
        #expect(
            self.type(self.keys("thr") + [.up, .up, .down, .down], history: history).editor.line.text == "thr"
        )
    }

    @Test func `Tab completes the line as far as possible, then shows the candidates`() {
        #expect(self.type(self.keys("app://o") + [.tab]).editor.line.text == "app://orders/mine")
        #expect(self.type(self.keys("/c") + [.tab]).editor.line.text == "/cart/add")
        let typed = self.type(self.keys("app://cart/add") + [.tab])
        #expect(typed.last == .list(["app://cart/add", "app://cart/add?product=tea"]))
        #expect(self.type(self.keys("moon") + [.tab]).editor.line.text == "moon")
    }

    @Test func `Ctrl-C discards the line, and Ctrl-D ends the shop at an empty prompt`() {
        #expect(self.type(self.keys("a") + [.control("c")]).last == .cancel)
        #expect(self.type([.control("d")]).last == .end)
        #expect(self.type(self.keys("a") + [.left, .control("d")]).editor.line.text.isEmpty)
    }
}
