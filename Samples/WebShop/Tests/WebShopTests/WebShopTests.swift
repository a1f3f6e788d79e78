import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Testing
import Waybill
import WaybillConsole

@testable import WebShop

/// The shop behind Hummingbird on a Unix socket, called by curl.
@Suite(.timeLimit(.minutes(1)))
struct WebShopTests {
    /// Runs a closure with the path of a socket at which the shop is served.
    private func withShop(hasConsole: Bool = false, _ body: (String) async throws -> Void) async throws {
        let path = "/tmp/web-shop-\(UInt32.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let shop = try await WebShop()
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let application = Application(
            router: shop.router(with: hasConsole ? WaybillConsole(shop.bus) : nil),
            configuration: .init(address: .unixDomainSocket(path: path)),
            onServerRunning: { _ in start.finish() },
            logger: Logger(label: "web-shop.tests") { _ in SwiftLogNoOpLogHandler() }
        )
        let group = ServiceGroup(services: [application], logger: application.logger)
        let running = Task { try await group.run() }
        for await _ in started {}
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await body(path))
        } catch {
            outcome = .failure(error)
        }
        await group.triggerGracefulShutdown()
        try await running.value
        await shop.bus.shutDown()
        try outcome.get()
    }

    /// Returns the output of curl: the body, and the status on a separate line.
    private func curl(_ socket: String, _ path: String, _ options: String...) async throws -> String {
        let curl = Process()
        curl.executableURL = URL(filePath: "/usr/bin/env")
        curl.arguments =
            ["curl", "-s", "--max-time", "20", "--unix-socket", socket, "-w", "\n%{http_code}"] + options
            + ["http://localhost\(path)"]
        let pipe = Pipe()
        curl.standardOutput = pipe
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        curl.terminationHandler = { _ in end.finish() }
        try curl.run()
        for await _ in ended {}
        return String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }

    @Test func `a product can be read by its URL`() async throws {
        try await self.withShop { socket in
            let product = try await self.curl(socket, "/bus/app/catalog/product?id=copper-kettle")
            #expect(product.contains("Copper Kettle"))
            #expect(product.hasSuffix("\n200"))
        }
    }

    @Test func `a customer signs in with a form, and fills a cart with JSON`() async throws {
        try await self.withShop { socket in
            let session = try await self.curl(socket, "/bus/app/accounts/sign-in", "-d", "name=Lili")
            let parts = session.split(separator: "\"")
            let token = try #require(parts.firstIndex(of: "token").map { parts[$0 + 2] })
            let cart = try await self.curl(
                socket,
                "/bus/app/cart/add",
                "-H",
                "Content-Type: application/json",
                "-d",
                #"{"product": "copper-kettle", "session": "\#(token)"}"#
            )
            #expect(cart.contains("Copper Kettle"))
        }
    }

    @Test func `GET on a URL that is not exposed for reads returns 405`() async throws {
        try await self.withShop { socket in
            let answer = try await self.curl(socket, "/bus/app/accounts/sign-in?name=Lili")
            #expect(answer.hasSuffix("\n405"))
        }
    }

    @Test func `URLs between modules return 404 to peers`() async throws {
        try await self.withShop { socket in
            for path in ["cart/take", "catalog/reserve", "orders/settle/1", "activity/log", "not/there"] {
                let answer = try await self.curl(socket, "/bus/app/\(path)", "-X", "POST")
                #expect(answer.hasSuffix("\n404"), "\(path)")
            }
        }
    }

    @Test func `a handler of the web server can call a module's URL`() async throws {
        try await self.withShop { socket in
            let names = try await self.curl(socket, "/search?text=kettle")
            #expect(names.contains("Copper Kettle"))
        }
    }

    @Test(arguments: [(false, "404"), (true, "401")])
    func `the console exists only when enabled, and requires its token`(
        hasConsole: Bool,
        status: String
    ) async throws {
        try await self.withShop(hasConsole: hasConsole) { socket in
            for path in ["/console/", "/console/api/about", "/console/api/stream"] {
                let answer = try await self.curl(socket, path)
                #expect(answer.hasSuffix("\n\(status)"), "\(path)")
            }
        }
    }
}
