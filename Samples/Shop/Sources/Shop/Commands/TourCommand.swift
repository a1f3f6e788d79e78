internal import ArgumentParser
internal import Waybill

#if Cluster
internal import WaybillNATS
#endif

/// `shop tour`: the story of one customer.
struct TourCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tour",
        abstract: "Show a visit to the shop, message by message, in ten chapters."
    )

    #if Cluster
    @Option(
        help: ArgumentHelp(
            "The URL of a NATS server. The tour then calls the modules in the processes of `shop node`.",
            valueName: "url"
        )
    )
    var nats: String?
    #endif

    func run() async throws {
        do {
            try await self.withShop { bus in
                var tour = Tour(bus: bus)
                try await tour.run()
            }
        } catch let error as FileError where error.isBrokenPipe {
            throw ExitCode.failure
        }
    }

    /// Runs a closure with a bus that reaches the modules of the shop, in this process or in others.
    private func withShop(_ body: (MessageBus) async throws -> Void) async throws {
        #if Cluster
        if let nats {
            let bus = try await Storefront(modules: []).bus
            let node = bus.join(NATSTransport(servers: [nats], realm: NodeCommand.realm))
            try await node.start()
            try await body(bus)
            node.beginGracefulShutdown()
            return try await node.run()
        }
        #endif
        try await body(try await Storefront().bus)
    }
}
