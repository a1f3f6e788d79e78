internal import ArgumentParser
internal import Foundation
internal import Hummingbird
internal import Logging
internal import NIOCore
internal import Routes
internal import ServiceLifecycle
internal import UnixSignals
internal import WaybillConsole
internal import WaybillEventLoop
internal import WaybillServe
internal import WaybillServiceLifecycle

/// The shop over the web and optionally over a Unix socket: one bus with several servers.
@main
struct WebShopCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "web-shop",
        abstract: "Serve the shop over HTTP to programs on this machine.",
        discussion: """
            After SIGINT or SIGTERM the shop finishes the running requests and closes; a second signal closes it at \
            once. SIGHUP reads the file of routes again.

            EXAMPLES:
              web-shop --http 8080 --socket shop.sock
              curl 'localhost:8080/bus/app/catalog/product?id=copper-kettle'
              curl localhost:8080/bus/app/accounts/sign-in -d name=Lili
              web-shop --console        # and open the link that it prints

            The shop's page at / needs a generated client. From the root of the repository:
              swift run waybill client --typescript --connect shop.sock --output shop.ts
              tsc --target es2021 --module es2022 --lib es2021,dom shop.ts
              web-shop --client shop.js
            """
    )

    @Option(help: "The HTTP server's port on 127.0.0.1, or the path of its Unix socket.")
    var http = "8080"

    @Option(help: "The path of a Unix socket on which to serve JSON-RPC as well.")
    var socket: String?

    @Option(
        help: "A file with more URLs for the shop's routes, in YAML, in JSON or as a property list."
    )
    var routes: String?

    @Option(help: "A generated client in JavaScript, to serve the shop's page at /.")
    var client: String?

    @Flag(help: "Serve the console, a web page that shows the shop's messages, and print its link.")
    var console = false

    @Flag(help: "Serve the console, and let it call routes and send dead letters again.")
    var consoleActions = false

    @Flag(help: "Serve the console, and let it show values instead of types.")
    var consolePayloads = false

    #if Cluster
    @Option(
        help: ArgumentHelp("The URL of a NATS server, to join the cluster of `shop node`.", valueName: "url")
    )
    var nats: String?
    #endif

    func validate() throws {
        guard !self.showsConsole || Int(self.http) != nil else {
            throw ValidationError("The console needs a port for the browser: use --http 8080.")
        }
    }

    private var showsConsole: Bool { self.console || self.consoleActions || self.consolePayloads }

    func run() async throws {
        let logger = Logger(label: "web-shop")
        let shop = try await WebShop()
        let routes = self.routes.map { RouteFile($0, for: shop.bus) }
        try await routes?.load()
        let console = self.showsConsole ? self.console(of: shop) : nil
        let page = try self.client.map { try ShopPage(clientAt: $0) }
        var services: [any Service] = [MessageBusService(shop.bus, drainingFor: .seconds(2))]
        #if Cluster
        if let nats { services.append(try shop.join(at: nats)) }
        #endif
        if let socket { services.append(RPCServer(shop.bus, listening: .unix(socket))) }
        services.append(
            Application(
                router: shop.router(with: console, page: page),
                configuration: .init(
                    address: Int(self.http).map { .hostname("127.0.0.1", port: $0) }
                        ?? .unixDomainSocket(path: self.http)
                ),
                onServerRunning: { server in
                    guard let console, let port = server.localAddress?.port else { return }
                    Self.say("console: \(console.link(at: "http://127.0.0.1:\(port)/console"))")
                }
            )
        )
        // A service group ends its services in reverse order, so the servers end before the bus.
        let group = ServiceGroup(services: services, logger: logger)
        let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint, .sighup)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            tasks.addTask { await Self.follow(signals, group, routes) }
            try await tasks.next()
            tasks.cancelAll()
        }
    }

    /// Ends the servers at the first signal, ends the program at the second one, and reads the routes again
    /// at SIGHUP.
    private static func follow(
        _ signals: UnixSignalsSequence,
        _ group: ServiceGroup,
        _ routes: RouteFile?
    ) async {
        var isClosing = false
        for await signal in signals {
            if signal == .sighup {
                if let line = await routes?.reload() { self.say("web-shop: \(line)") }
            } else if isClosing {
                self.exit(withError: ExitCode.failure)
            } else {
                await group.triggerGracefulShutdown()
                isClosing = true
            }
        }
    }

    private func console(of shop: WebShop) -> WaybillConsole {
        var configuration = WaybillConsole.Configuration()
        configuration.name = "web-shop"
        configuration.allowsActions = self.consoleActions
        configuration.showsPayloads = self.consolePayloads
        return WaybillConsole(shop.bus, configuration: configuration)
    }

    /// Prints a line for a person on standard error, because standard output is for programs.
    private static func say(_ line: String) {
        FileHandle.standardError.write(Data("\(line)\n".utf8))
    }
}
