internal import ArgumentParser
internal import Routes
internal import ShopAPI
internal import Waybill
internal import WaybillEventLoop
internal import WaybillServe

/// `shop serve --socket PATH`: serves customers in other programs over a Unix socket.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve the shop to other programs over a Unix socket.",
        discussion: """
            A request is a line of JSON-RPC 2.0 whose method is a URL of the shop. Clients can call the URLs for \
            customers. The server answers a URL that only modules use as if it did not exist.

            After SIGINT or SIGTERM the shop finishes the running requests and closes; a second signal closes it at \
            once. SIGHUP reads the file of routes again.

            `Samples/run serve --console` starts another program, which serves the shop over HTTP with a page that \
            shows its messages.

            EXAMPLES:
              shop serve --socket shop.sock
              shop serve --socket shop.sock --routes routes.yaml
              shop serve --socket shop.sock --data shop.db
              waybill call app://catalog/product --json '{"id": "copper-kettle"}' --connect shop.sock
              waybill watch 'app://reviews/:product' --connect shop.sock
            """
    )

    @Option(help: "The path of the socket. A socket file that a killed server left behind is replaced.")
    var socket: String

    @Option(
        help: "A file with more URLs for the shop's routes, in YAML, in JSON or as a property list."
    )
    var routes: String?

    @OptionGroup var data: DataOption

    /// The URLs for customers.
    ///
    /// Messages between modules are not exposed.
    static let customerURLs = [
        "app://accounts/**", "app://customers/customer", "app://activity/receipt", "app://activity/recent",
        "app://cart/add", "app://cart/remove", "app://cart/show", "app://catalog/categories",
        "app://catalog/category/:name", "app://catalog/product", "app://catalog/search",
        "app://orders/cancel/:id", "app://orders/detail/:id", "app://orders/mine", "app://orders/place",
        "app://payments/pay", "app://payments/refund", "app://shipping/**",
    ]

    /// The URL of reviews.
    ///
    /// A customer publishes a review, and all customers who watch receive it.
    static let reviews = "app://reviews/:product"

    func run() async throws {
        let file = try await self.data.openFile()
        let shop = try await Storefront(file: file)
        shop.bus.use(ShopErrorMiddleware())
        for url in Self.customerURLs { try shop.bus.expose(url) }
        try shop.bus.expose(Self.reviews, for: [.publishing, .subscribing])
        let routes = self.routes.map { RouteFile($0, for: shop.bus) }
        try await routes?.load()
        let server = RPCServer(shop.bus, listening: .unix(self.socket))
        let signals = try await shop.bus.eventLoop.signals(.interrupt, .terminate, .hangUp)
        try await withMessageBus(shop.bus, drainingFor: .seconds(2)) { _ in
            try await server.start()
            try Self.say("serving at \(self.socket)\n", to: 1)
            try await Self.serve(server, routes, until: signals)
        }
        await file?.close()
    }

    /// Writes a line immediately, also into a pipe, because a script may wait for it.
    private static func say(_ line: String, to descriptor: Int32) throws(FileError) {
        var output = FileOutput(descriptor)
        output.bytes.append(contentsOf: line.utf8)
        try output.flush()
    }

    /// Serves until the first signal, and finishes requests in flight until the second.
    private static func serve(
        _ server: RPCServer,
        _ routes: RouteFile?,
        until signals: SignalSequence
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.run() }
            group.addTask {
                var isClosing = false
                for try await signal in signals {
                    if signal == .hangUp {
                        // The server continues when the terminal is closed.
                        if let line = await routes?.reload() { try? Self.say("shop: \(line)\n", to: 2) }
                    } else if isClosing {
                        throw ExitCode.failure
                    } else {
                        server.beginGracefulShutdown()
                        isClosing = true
                    }
                }
            }
            try await group.next()
            group.cancelAll()
        }
    }
}
