#if Tool
internal import ArgumentParser
internal import WaybillRouting
internal import WaybillServe

/// The command that shows the messages that a running program, or a cluster, publishes.
struct WatchCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Shows messages when they are published, until it is interrupted.",
        discussion: """
            On a terminal, the command shows the number of messages for each URL, and the last messages. In a pipe, it \
            prints each message as one line of JSON with `url`, `parameters` and, under `$waybill`, the headers and \
            the payload. A program shows only the URLs that it exposes for subscribing. A cluster on NATS shows all \
            messages that its nodes publish.

            EXAMPLES:
              waybill watch 'app://prices/:symbol' --connect shop.sock
              waybill watch 'app://**' --connect shop.sock | jq .url
              waybill watch 'app://**' --nats nats://127.0.0.1:4222 --realm shop
            """
    )

    @Argument(help: "The patterns of the URLs to subscribe to.")
    var patterns: [String]

    @OptionGroup var peer: PeerOptions

    @Option(help: "The number of messages after which the command ends.")
    var count: Int?

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count must be at least 1.") }
    }

    func run() async throws {
        let watch = Watch(self.patterns, isDrawn: Output.isTerminal, limit: self.count)
        try await self.peer.withPeer { peer in
            try await peer.watch(self.patterns) { watch.take($0) }
            let drawing = Task { await watch.draw() }
            let end = await watch.end()
            drawing.cancel()
            await drawing.value
            switch end {
            case .counted: return
            case .unwritable(let error): throw error
            case .lost: throw RPCRequestError(.unreachable, "the server has closed the connection")
            }
        }
    }
}
#endif
