internal import ArgumentParser
internal import Waybill

/// `shop URL...`, `shop < urls.txt`, and the prompt: routes URLs and prints the replies.
struct DeliverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliver",
        abstract: "Route URLs, and print the reply of each.",
        discussion: """
            The command routes the URLs in its arguments. Without arguments, it reads URLs from standard input, one on \
            each line, and skips blank lines and lines that begin with #. On a terminal, it opens a prompt with \
            history, Tab completion and help.

            If a URL fails, the command prints one line on standard error and goes on with the next URL. The exit \
            status is 0 if every URL got its reply, and 1 otherwise.
            """
    )

    @Option(help: "The format of replies. (default: json; text at the prompt)")
    var format: ReplyFormat?

    @Argument(help: "URLs to route; quote those with ? or &.")
    var urls: [String] = []

    func run() async throws {
        let shop = try await Storefront()
        // Deliver the messages between modules before the shop closes, whatever the exit status.
        try await withMessageBus(shop.bus, drainingFor: .seconds(2)) { _ in
            do {
                if self.urls.isEmpty, Terminal.isInteractive {
                    try await self.prompt(shop)
                } else {
                    try await self.serve(shop)
                }
            } catch let error as FileError where error.isBrokenPipe {
                // The program that reads the replies has closed the pipe.
                throw ExitCode.failure
            }
        }
    }

    private func serve(_ shop: Storefront) async throws {
        let clerk = Clerk(bus: shop.bus, format: self.format ?? .json)
        if self.urls.isEmpty {
            var input = FileInput(0)
            while let piece = try input.read() { try await clerk.serve(piece: piece) }
            try await clerk.serveLastLine()
        } else {
            try await clerk.serve(self.urls)
        }
        if await clerk.failures > 0 { throw ExitCode.failure }
    }

    private func prompt(_ shop: Storefront) async throws {
        let prompt = try await Prompt(bus: shop.bus, format: self.format ?? .text)
        try await prompt.run()
    }
}
