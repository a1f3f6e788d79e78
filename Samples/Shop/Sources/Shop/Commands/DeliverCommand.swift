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

    @Option(help: "How replies are printed. (default: json; text at the prompt)")
    var format: ReplyFormat?

    @Argument(help: "URLs to route; quote those with ? or &.")
    var urls: [String] = []

    func run() async throws {
        let shop = try Storefront()
        let clerk = Clerk(bus: shop.bus, format: self.format ?? .json)
        do {
            if self.urls.isEmpty { try await Self.serveStandardInput(clerk) } else { try await clerk.serve(self.urls) }
        } catch let error as FileError where error.isBrokenPipe {
            // Whoever read the replies has seen enough.
            throw ExitCode.failure
        }
        await shop.bus.shutDown(graceful: .now + .seconds(2))
        if await clerk.failures > 0 { throw ExitCode.failure }
    }

    private static func serveStandardInput(_ clerk: Clerk) async throws {
        var input = FileInput(0)
        while let piece = try input.read() { try await clerk.serve(piece: piece) }
        try await clerk.serveLastLine()
    }
}
