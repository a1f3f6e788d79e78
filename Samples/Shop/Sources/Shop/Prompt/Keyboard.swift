/// The keys of the terminal, and the lines that are typed with them.
///
/// The prompt and the question before a payment share one keyboard, so keys that were pressed early reach the
/// next reader. Reading blocks the main thread. The modules are not affected, because they are on the loop of
/// the bus.
@MainActor
final class Keyboard {
    /// The way in which a line ended.
    enum Line: Equatable {
        /// The customer pressed Enter.
        case text(String)
        /// The customer pressed Ctrl-C.
        case cancelled
        /// The customer pressed Ctrl-D, or the terminal was closed.
        case ended
    }

    private var input = FileInput(0, chunk: 4 * 1_024)
    private var output = FileOutput(1)
    private var decoder = KeyDecoder()
    private let resizes: WindowResizes

    /// The keys that were pressed before their line began.
    private var keys: [Key] = []

    init(resizes: WindowResizes) { self.resizes = resizes }

    /// Shows text that is not part of a line.
    func show(_ text: String) throws {
        self.output.bytes.append(contentsOf: text.utf8)
        try self.output.flush()
    }

    /// Reads one line, and draws it while it is typed.
    func readLine(_ prompt: String, editor: LineEditor) throws -> Line {
        try Terminal.withoutEcho { try self.edit(prompt, editor) }
    }

    private func edit(_ prompt: String, _ first: LineEditor) throws -> Line {
        var editor = first
        func draw(after text: String = "") throws {
            try self.show(text + LineView(prompt: prompt, line: editor.line, columns: Terminal.columns).text)
        }
        try draw()
        while let key = try self.nextKey(whenResized: { try draw() }) {
            switch editor.handle(key) {
            case .redraw: try draw()
            case .clear: try draw(after: "\u{1b}[H\u{1b}[2J")
            case .list(let words): try draw(after: "\r\n\(words.joined(separator: "\r\n"))\r\n")
            case .accept(let text):
                try self.show("\r\n")
                return .text(text)
            case .cancel:
                try self.show("^C\r\n")
                return .cancelled
            case .end:
                try self.show("\r\n")
                return .ended
            }
        }
        return .ended
    }

    /// The time in milliseconds in which the rest of a sequence must follow its Escape.
    private static let escapeTime: Int32 = 50

    /// Returns the next key, or nil when the terminal was closed.
    func nextKey(whenResized redraw: () throws -> Void) throws -> Key? {
        while self.keys.isEmpty {
            // Arrow keys begin with an Escape too. An Escape is a key of its own only if nothing follows at
            // once.
            let time = self.decoder.isInEscape ? Self.escapeTime : -1
            switch try self.resizes.waitForInput(0, milliseconds: time) {
            case .resized: try redraw()
            case .idle: self.keys = self.decoder.endEscape()
            case .input:
                guard let bytes = try self.input.read() else { return nil }
                self.keys = self.decoder.decode(bytes)
            }
        }
        return self.keys.removeFirst()
    }
}
