internal import ArgumentParser
internal import Waybill
internal import WaybillNavigation

/// `shop browse`: the shop as pages with links, in a terminal.
struct BrowseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse",
        abstract: "Browse the pages of the shop in the terminal.",
        discussion: """
            KEYS:
              arrows, Tab   choose a link
              Enter         follow the link
              Backspace     go back
              g             type a URL
              h             go to the first page
              q             quit

            Each page has a URL, such as screen://push/product/copper-kettle. If the input or the output is not a \
            terminal, the command opens the URLs in its arguments, or one URL from each line of standard input, and \
            prints each page as plain text.

            EXAMPLES:
              shop browse
              shop browse screen://category/kitchen
              echo screen://product/copper-kettle | shop browse
            """
    )

    @Argument(help: "URLs to open, one after the other.")
    var urls: [String] = []

    @MainActor
    func run() async throws {
        let shop = try await Storefront(conventions: .navigation)
        try await withMessageBus(shop.bus, drainingFor: .seconds(2)) { bus in
            do {
                let browser = try Browser(bus: bus)
                if Terminal.isInteractive {
                    try await BrowserWindow(browser, bus).run(opening: self.urls)
                } else {
                    try await self.print(browser)
                }
            } catch let error as FileError where error.isBrokenPipe {
                throw ExitCode.failure
            }
        }
    }

    /// Prints the pages that URLs lead to.
    @MainActor
    private func print(_ browser: Browser) async throws {
        var output = FileOutput(1)
        var failures = 0
        for url in try self.urls.isEmpty ? Self.readLines() : self.urls {
            await browser.follow(url)
            if browser.hasFailed { failures += 1 }
            output.bytes.append(contentsOf: browser.text.utf8)
            try output.flush()
        }
        if failures > 0 { throw ExitCode.failure }
    }

    private static func readLines() throws -> [String] {
        var splitter = LineSplitter()
        var input = FileInput(0)
        var lines: [String] = []
        var number = 0
        func add(_ line: LineSplitter.Line) throws {
            number += 1
            guard case .text(let text) = line else {
                let limit = splitter.limit
                throw ValidationError("line \(number) is not UTF-8, or has more than \(limit) bytes")
            }
            if !text.trimmed.isEmpty, !text.trimmed.hasPrefix("#") { lines.append(text.trimmed) }
        }
        while let piece = try input.read() {
            splitter.append(piece)
            while let line = splitter.next() { try add(line) }
        }
        if let line = splitter.finish() { try add(line) }
        return lines
    }
}
