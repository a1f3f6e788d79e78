/// The state of a line editor.
///
/// The value does not use a terminal.
struct LineEditor {
    /// The action after a key.
    enum Action: Equatable {
        /// Draw the line again.
        case redraw
        /// The line is finished.
        case accept(String)
        /// The line is discarded.
        case cancel
        /// The input has ended.
        case end
        /// Show the possible completions.
        case list([String])
        /// Draw the line again, on an empty screen.
        case clear
    }

    private(set) var line = EditLine()
    let completer: Completer
    private let history: [String]

    /// The index of the shown line of the history.
    ///
    /// The count of the history stands for the new line.
    private var place: Int
    private var draft = ""

    init(history: [String], completer: Completer) {
        self.history = history
        self.place = history.count
        self.completer = completer
    }

    mutating func handle(_ key: Key) -> Action {
        switch key {
        case .enter: return .accept(self.line.text)
        case .tab: return self.complete()
        case .control("c"): return .cancel
        case .control("d") where self.line.characters.isEmpty: return .end
        case .control("l"): return .clear
        case .up, .control("p"): self.recall(self.place - 1)
        case .down, .control("n"): self.recall(self.place + 1)
        default: self.edit(key)
        }
        return .redraw
    }

    private mutating func edit(_ key: Key) {
        switch key {
        case .character(let character): self.line.insert(String(character))
        case .left, .control("b"): self.line.move(by: -1)
        case .right, .control("f"): self.line.move(by: 1)
        case .home, .control("a"): self.line.moveToStart()
        case .end, .control("e"): self.line.moveToEnd()
        case .wordLeft: self.line.moveWordLeft()
        case .wordRight: self.line.moveWordRight()
        case .backspace: self.line.deleteBackward()
        case .delete, .control("d"): self.line.deleteForward()
        case .control("w"): self.line.deleteWord()
        case .control("u"): self.line.deleteToStart()
        case .control("k"): self.line.deleteToEnd()
        default: break
        }
    }

    private mutating func recall(_ place: Int) {
        guard 0...self.history.count ~= place else { return }
        if self.place == self.history.count { self.draft = self.line.text }
        self.place = place
        self.line.text = place == self.history.count ? self.draft : self.history[place]
    }

    private mutating func complete() -> Action {
        let found = self.completer.candidates(for: self.line.head)
        let more = Completer.commonPrefix(of: found).dropFirst(self.line.head.count)
        if more.isEmpty { return found.count > 1 ? .list(found) : .redraw }
        self.line.insert(String(more))
        return .redraw
    }
}
