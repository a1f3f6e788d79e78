internal import ArgumentParser
internal import ShopAPI
internal import Waybill

/// The browser in a terminal, which takes keys and draws the resulting screen.
@MainActor
final class BrowserWindow {
    private let browser: Browser
    private let bus: MessageBus
    private var visited: [String] = []

    init(_ browser: Browser, _ bus: MessageBus) {
        self.browser = browser
        self.bus = bus
    }

    /// Opens URLs, and browses until the customer leaves.
    func run(opening urls: [String]) async throws {
        let keyboard = Keyboard(resizes: try await WindowResizes(on: self.bus.eventLoop))
        self.browser.asker = { [unowned self] request in
            let answer = try? await self.browser.ask(request) { try await self.takeKey(from: keyboard) }
            return answer ?? .cancel
        }
        try await FullScreen.run {
            await self.browser.follow(Browser.home)
            for url in urls { await self.browser.follow(url) }
            while try await self.takeKey(from: keyboard) {}
        }
    }

    /// Draws the screen, and handles the next key.
    ///
    /// Returns false if the customer leaves.
    private func takeKey(from keyboard: Keyboard) async throws -> Bool {
        try self.draw(keyboard)
        guard let key = try keyboard.nextKey(whenResized: { try self.draw(keyboard) }) else { return false }
        switch key {
        case .up, .control("p"): self.browser.choose(by: -1)
        case .down, .tab, .control("n"): self.browser.choose(by: 1)
        case .enter, .right: await self.browser.followChosen()
        case .backspace, .left, .character("b"): await self.browser.follow("screen://back")
        case .character("h"): await self.browser.follow(Browser.home)
        case .character("g"): try await self.openURL(keyboard)
        case .character("q"), .control("d"): return false
        // Ctrl-C sends no signal while keys are read one by one.
        case .control("c"): throw ExitCode(130)
        default: break
        }
        return true
    }

    private func draw(_ keyboard: Keyboard) throws { try keyboard.show(self.view.text) }

    private var view: ScreenView {
        let size = Terminal.size
        return ScreenView(
            layers: self.browser.layers,
            message: self.browser.message,
            columns: size.columns,
            rows: size.rows
        )
    }

    /// Lets the customer type a URL in the last row, and follows it.
    ///
    /// A URL without a scheme opens a page.
    ///
    /// Escape cancels the input, and so does Backspace when the row is empty.
    private func openURL(_ keyboard: Keyboard) async throws {
        let words = ["screen://category/", "screen://product/", "screen://search?text=", "screen://cart"]
        let completer = Completer(routes: self.bus.routes, words: words, scheme: "screen")
        var editor = LineEditor(history: self.visited, completer: completer)
        func draw() throws {
            let line = LineView(prompt: "URL: ", line: editor.line, columns: Terminal.columns)
            try keyboard.show(self.view.text + "\u{1b}[?25h" + line.text)
        }
        try draw()
        defer { try? keyboard.show("\u{1b}[?25l") }
        while let key = try keyboard.nextKey(whenResized: draw) {
            if key == .escape || key == .backspace && editor.line.characters.isEmpty { return }
            switch editor.handle(key) {
            case .accept(let text):
                let url = text.trimmed
                guard !url.isEmpty else { return }
                self.visited.append(url)
                return await self.browser.follow(url.contains(":") ? url : "screen://\(url)")
            case .cancel, .end: return
            case .redraw, .clear, .list: try draw()
            }
        }
    }
}
