internal import Waybill
internal import WaybillCommands

/// The shop on a terminal: reads a line with history and completion, has it served, and begins again.
struct Prompt {
    private let bus: MessageBus
    private let clerk: Clerk
    private let completer: Completer
    private var history = History(file: History.defaultFile)
    private var input = FileInput(0, chunk: 4 * 1_024)
    private var output = FileOutput(1)
    private var decoder = KeyDecoder()

    /// Keys that were pressed before their line was begun.
    private var keys: [Key] = []

    private static let words = ["help", "routes", "format json", "format text", "quit"]

    init(bus: MessageBus, clerk: Clerk) {
        self.bus = bus
        self.clerk = clerk
        self.completer = Completer(routes: bus.routes, words: Example.all.map(\.url) + Self.words)
    }

    mutating func run() async throws {
        try self.show("\(self.bus.routes.count) routes are open. Type help, or a URL; Tab completes.\n")
        while let text = try self.readLine() {
            let line = text.trimmed
            self.history.append(line)
            switch line {
            case "": break
            case "help": try self.show(PromptHelp.text + "\n")
            case "routes": try self.show(RouteList(self.bus.routeDescriptions).text(as: .table) + "\n")
            case "format json": await self.clerk.use(.json)
            case "format text": await self.clerk.use(.text)
            case "quit", "exit": return
            default: try await self.clerk.serve([line])
            }
        }
    }

    /// The next line, or nil when nothing more will be typed.
    private mutating func readLine() throws -> String? {
        try Terminal.withoutEcho { try self.editLine() }
    }

    private mutating func editLine() throws -> String? {
        var editor = LineEditor(history: self.history.lines, completer: self.completer)
        try self.draw(editor.line)
        while true {
            guard let key = try self.nextKey() else { return nil }
            switch editor.handle(key) {
            case .redraw: try self.draw(editor.line)
            case .clear: try self.draw(editor.line, after: "\u{1b}[H\u{1b}[2J")
            case .list(let words):
                try self.draw(editor.line, after: "\r\n\(words.joined(separator: "\r\n"))\r\n")
            case .accept(let text):
                try self.show("\r\n")
                return text
            case .cancel:
                try self.show("^C\r\n")
                return ""
            case .end:
                try self.show("\r\n")
                return nil
            }
        }
    }

    private mutating func nextKey() throws -> Key? {
        while self.keys.isEmpty {
            guard let bytes = try self.input.read() else { return nil }
            self.keys = self.decoder.decode(bytes)
        }
        return self.keys.removeFirst()
    }

    private mutating func draw(_ line: EditLine, after text: String = "") throws {
        try self.show(text + LineView(prompt: "shop> ", line: line, columns: Terminal.columns).text)
    }

    private mutating func show(_ text: String) throws {
        self.output.bytes.append(contentsOf: text.utf8)
        try self.output.flush()
    }
}
