internal import ArgumentParser
internal import Hummingbird
internal import Logging
internal import ServiceLifecycle
internal import UnixSignals
internal import WaybillEventLoop
internal import WaybillServe
internal import WaybillServiceLifecycle

/// The shop over the web and, if it is asked to, over a Unix socket: one bus, and servers around it.
@main
struct WebShopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web-shop",
        abstract: "Serve the shop over HTTP, to this machine.",
        discussion: """
            EXAMPLES:
              web-shop --http 8080 --socket shop.sock
              curl 'localhost:8080/bus/app/catalog/product?id=copper-kettle'
              curl localhost:8080/bus/app/accounts/sign-in -d name=Lili
            """
    )

    @Option(help: "The port of 127.0.0.1, or the path of a Unix socket.")
    var http = "8080"

    @Option(help: "The path of a Unix socket, for JSON-RPC.")
    var socket: String?

    func run() async throws {
        let logger = Logger(label: "web-shop")
        let shop = try await WebShop()
        var services: [any Service] = [MessageBusService(shop.bus, drainingFor: .seconds(2))]
        if let socket { services.append(RPCServer(shop.bus, listening: .unix(socket))) }
        services.append(
            Application(
                router: shop.router,
                configuration: .init(
                    address: Int(self.http).map { .hostname("127.0.0.1", port: $0) }
                        ?? .unixDomainSocket(path: self.http)
                )
            )
        )
        // In the other order: the servers end before the bus does.
        try await ServiceGroup(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger
        ).run()
    }
}
