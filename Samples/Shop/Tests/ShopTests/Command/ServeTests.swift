import Foundation
import Testing

/// The shop as a server, called in JSON-RPC from Python.
@Suite(.timeLimit(.minutes(1)))
final class ServeTests {
    private let folder: URL
    private let shop = Process()

    init() throws {
        self.folder = FileManager.default.temporaryDirectory.appending(
            path: "shop-\(UUID().uuidString.prefix(8))"
        )
        try FileManager.default.createDirectory(at: self.folder, withIntermediateDirectories: true)
        self.shop.executableURL = ShopProcess.executable
        try self.writeRoutes("\"app://kettle\": \"app://catalog/product?id=copper-kettle\"")
        self.shop.arguments = ["serve", "--socket", self.socket, "--routes", self.routes.path]
        let output = Pipe()
        self.shop.standardOutput = output
        self.shop.standardError = FileHandle.nullDevice
        try self.shop.run()
        // Other scripts wait for this line too.
        let line = output.fileHandleForReading.availableData
        try #require(String(decoding: line, as: UTF8.self) == "serving at \(self.socket)\n")
    }

    deinit {
        if self.shop.isRunning { kill(self.shop.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: self.folder)
    }

    private var socket: String { self.folder.appending(path: "s").path }

    private var routes: URL { self.folder.appending(path: "routes.yaml") }

    private func writeRoutes(_ text: String) throws {
        try "destinations:\n  \(text)\n".write(to: self.routes, atomically: true, encoding: .utf8)
    }

    /// Calls a URL and prints the reply, or ends with the message of the error.
    private static let script = """
        import json, socket, sys
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(sys.argv[1])
        call = {"jsonrpc": "2.0", "id": 1, "method": sys.argv[2], "params": json.loads(sys.argv[3])}
        connection.sendall((json.dumps(call) + "\\n").encode())
        reply = json.loads(connection.makefile().readline())
        if "error" in reply: sys.exit(reply["error"]["message"])
        print(json.dumps(reply["result"]))
        """

    /// Returns the output of the client.
    private func call(_ url: String, _ values: String = "{}") throws -> (status: Int32, text: String) {
        let python = Process()
        python.executableURL = URL(filePath: "/usr/bin/env")
        python.arguments = ["python3", "-c", Self.script, self.socket, url, values]
        let pipe = Pipe()
        python.standardOutput = pipe
        python.standardError = pipe
        try python.run()
        let text = String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        python.waitUntilExit()
        return (python.terminationStatus, text)
    }

    @Test func `a program in Python can call the shop's URLs`() throws {
        let product = try self.call("app://catalog/product", #"{"id": "copper-kettle"}"#)
        #expect(product.status == 0 && product.text.contains("Copper Kettle"))
        let session = try self.call("app://accounts/sign-in?name=Lili")
        #expect(session.status == 0 && session.text.contains("Lili"))
        let wrong = try self.call("app://catalog/product")
        #expect(wrong.status != 0 && wrong.text.contains("`id`"))
    }

    @Test func `a customer's client receives the reason of a shop error`() throws {
        let cart = try self.call("app://cart/show")
        #expect(cart.status == 1 && cart.text.contains("sign in first: app://accounts/sign-in?name=Lili"))
        let quote = try self.call("app://shipping/quote/xx?grams=1")
        #expect(quote.status == 1 && quote.text.contains("the carrier does not deliver to xx"))
    }

    @Test(arguments: [
        "cart/take", "cart/restore", "catalog/reserve", "catalog/release", "orders/settle/1", "activity/log",
    ])
    func `URLs between modules do not exist for a customer's client`(path: String) throws {
        let hidden = try self.call("app://\(path)")
        let nothing = try self.call("app://\(path)-that-is-not-there")
        #expect(hidden.status != 0 && nothing.status != 0)
        #expect(hidden.text.contains("no route") == nothing.text.contains("no route"))
        #expect(!hidden.text.contains("did you mean app://\(path)"))
        let routes = try self.call("$/routes")
        #expect(routes.text.contains("app://cart/add") && !routes.text.contains(path))
    }

    @Test func `SIGHUP reloads the file of routes, and an invalid file changes nothing`() throws {
        #expect(try self.call("app://kettle").text.contains("Copper Kettle"))
        try self.writeRoutes("\"app://board\": \"app://catalog/product?id=walnut-chopping-board\"")
        kill(self.shop.processIdentifier, SIGHUP)
        // The test's time limit ends this loop if the file is not read again.
        while try self.call("app://board").status != 0 {}
        #expect(try self.call("app://board").text.contains("Walnut"))
        #expect(try self.call("app://kettle").status != 0)
        try self.writeRoutes("][")
        kill(self.shop.processIdentifier, SIGHUP)
        #expect(try self.call("$/ping").text.contains("pong"))
        #expect(try self.call("app://board").text.contains("Walnut"))
    }

    @Test func `SIGTERM closes the shop, and removes its socket`() throws {
        #expect(try self.call("$/ping").text.contains("pong"))
        kill(self.shop.processIdentifier, SIGTERM)
        self.shop.waitUntilExit()
        #expect(self.shop.terminationReason == .exit && self.shop.terminationStatus == 0)
        #expect(!FileManager.default.fileExists(atPath: self.socket))
    }
}
