#if Cluster
internal import ArgumentParser
internal import Waybill
internal import WaybillEventLoop
internal import WaybillNATS

/// `shop node NAME --modules MODULE... --nats URL`: some modules of the shop in a separate process.
struct NodeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "node",
        abstract: "Run some modules of the shop as a node of a cluster on NATS.",
        discussion: """
            The node runs the same modules as the shop in one process. The modules call each other by URLs, so they \
            work in several processes without a change. After SIGINT or SIGTERM the node answers the requests that \
            it has received, leaves the cluster and exits.

            EXAMPLE:
              shop node counter --modules accounts cart --nats nats://127.0.0.1:4222
              shop node office --modules orders payments --data office.db --nats nats://127.0.0.1:4222
            """
    )

    /// The realm of the shop's processes.
    static let realm = "shop"

    @Argument(help: "The name of this process in the cluster.")
    var name: String

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("The modules of the shop that this process runs.", valueName: "module")
    )
    var modules: [ShopModule]

    @Option(help: ArgumentHelp("The URL of a NATS server.", valueName: "url"))
    var nats: String

    @OptionGroup var data: DataOption

    func run() async throws {
        let file = try await self.data.openFile()
        let shop = try await Storefront(modules: self.modules, file: file)
        for url in self.modules.flatMap(\.urls) { try shop.bus.share(url) }
        var configuration = ClusterNode.Configuration()
        configuration.name = self.name
        let transport = NATSTransport(servers: [self.nats], realm: Self.realm)
        let node = shop.bus.join(transport, configuration: configuration)
        let signals = try await shop.bus.eventLoop.signals(.interrupt, .terminate)
        try await withMessageBus(shop.bus, drainingFor: .seconds(2)) { _ in
            try await node.start()
            // Write the line immediately, also into a pipe, because a script may wait for it.
            var output = FileOutput(1)
            let modules = self.modules.map(\.rawValue).joined(separator: ", ")
            output.bytes.append(contentsOf: "\(self.name): \(modules)\n".utf8)
            try output.flush()
            let leaving = Task {
                for try await _ in signals { node.beginGracefulShutdown() }
            }
            defer { leaving.cancel() }
            try await node.run()
        }
        await file?.close()
    }
}
#endif
