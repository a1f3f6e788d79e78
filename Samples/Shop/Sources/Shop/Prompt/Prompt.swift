internal import Waybill
internal import WaybillCommands

/// The shop in a terminal: reads a line with history and completion, has the clerk route it, and repeats.
@MainActor
final class Prompt {
    private let bus: MessageBus
    private let keyboard: Keyboard
    private let clerk: Clerk
    private let completer: Completer
    private var history = History(file: History.defaultFile)

    private static let words = ["help", "routes", "format json", "format text", "quit"]

    init(bus: MessageBus, format: ReplyFormat) async throws {
        let keyboard = Keyboard(resizes: try await WindowResizes(on: bus.eventLoop))
        let customer = Customer(keyboard: keyboard)
        self.bus = bus
        self.keyboard = keyboard
        self.clerk = Clerk(bus: bus, format: format) { await customer.answer($0) }
        self.completer = Completer(routes: bus.routes, words: Example.all.map(\.url) + Self.words)
    }

    /// Reads and handles lines until the customer leaves.
    func run() async throws {
        try self.keyboard.show(
            "The shop has \(self.bus.routes.count) routes. Type a URL, or help. Tab completes.\n"
        )
        while true {
            let editor = LineEditor(history: self.history.lines, completer: self.completer)
            switch try self.keyboard.readLine("shop> ", editor: editor) {
            case .cancelled: continue
            case .ended: return
            case .text(let text):
                let line = text.trimmed
                self.history.append(line)
                guard try await self.serve(line) else { return }
            }
        }
    }

    /// Handles a line.
    ///
    /// Returns false if the customer leaves.
    private func serve(_ line: String) async throws -> Bool {
        switch line {
        case "": break
        case "help": try self.keyboard.show(PromptHelp.text + "\n")
        case "routes": try self.keyboard.show(RouteList(self.bus.routeDescriptions).text(as: .table) + "\n")
        case "format json": await self.clerk.use(.json)
        case "format text": await self.clerk.use(.text)
        case "quit", "exit": return false
        default:
            // A mistyped command is routed as a URL, and fails without a route.
            if !self.bus.canRoute(line), let word = Completer.nearest(to: line, among: Self.words) {
                try self.keyboard.show("there is no command \(SafeText.line(line)); did you mean \(word)?\n")
            } else {
                try await self.clerk.serve([line])
            }
        }
        return true
    }
}
