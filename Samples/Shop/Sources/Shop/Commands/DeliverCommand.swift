internal import ArgumentParser
internal import Waybill

/// `shop URL...`, `shop < urls.txt`, and the prompt: routes URLs and prints the replies.
struct DeliverCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deliver",
        abstract: "Route URLs, and print the reply of each.",
        discussion: """
            With URLs, routes each one. Without, reads URLs from standard input, one a line; blank lines and lines \
            that begin with # are skipped. On a terminal it is a prompt with history, Tab completion and help.

            What cannot be routed is one line on standard error, and the next URL is routed all the same. The exit \
            status is 0 if every URL got its reply, and 1 if not.
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
                // The reader of the replies has closed the pipe.
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
