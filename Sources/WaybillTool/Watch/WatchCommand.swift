#if Tool
internal import ArgumentParser
internal import Foundation
internal import WaybillRouting
internal import WaybillServe

/// Shows the messages that a running program publishes.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows published messages of a running program as they pass, until it is interrupted.",
        discussion: """
            On a terminal the counts by URL and the last messages are redrawn. In a pipe each message is a line of \
            JSON with `url`, `parameters` and, under `$waybill`, headers and payload. What can be watched is what the \
            program exposes for subscribing.

            EXAMPLES:
              waybill watch 'app://prices/:symbol' --connect shop.sock
              waybill watch 'app://**' --connect shop.sock | jq .url
            """
    )

    @Argument(help: "The patterns to subscribe to.")
    var patterns: [String]

    @OptionGroup var connection: ConnectionOptions

    @Option(help: "Ends after this many messages.")
    var count: Int?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count has to be at least 1.") }
    }

    func run() async throws {
        let client = try self.connection.client()
        defer { client.close() }
        let watch = Watch(self.patterns, isDrawn: Output.isTerminal, limit: self.count)
        await client.takeMessages { watch.take($0) }
        try await self.connection.report {
            for pattern in self.patterns {
                var options = RPCRequestOptions()
                let name = String(decoding: try JSONEncoder().encode(pattern), as: UTF8.self)
                options.parameters = "{\"pattern\":\(name)}"
                _ = try await client.request("$/subscribe", options)
            }
            let drawing = Task { await watch.draw() }
            let end = await watch.end()
            drawing.cancel()
            await drawing.value
            switch end {
            case .counted: return
            case .closed: throw ExitCode.failure
            case .lost:
                throw RPCRequestError(
                    .unreachable,
                    "\(self.connection.connect.argument): the server has closed the connection"
                )
            }
        }
    }
}
#endif
