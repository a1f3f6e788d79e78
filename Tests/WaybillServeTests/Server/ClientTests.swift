import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillTestSupport

@testable import WaybillServe

/// Clients in another language: the Python sample.
@Suite(.timeLimit(.minutes(1)))
struct ClientTests {
    private static let client =
        #filePath.components(separatedBy: "/Tests/")[0] + "/Samples/clients/waybill.py"

    /// Runs Python with access to the client's module, and returns its output.
    private func python(_ arguments: [String]) async throws -> (output: String, status: Int32) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-B"] + arguments
        process.environment = [
            "PYTHONPATH": (Self.client as NSString).deletingLastPathComponent, "PATH": "/usr/bin:/bin",
        ]
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = await onThread { pipe.fileHandleForReading.readDataToEndOfFile() }
        process.waitUntilExit()
        return (String(decoding: output, as: UTF8.self), process.terminationStatus)
    }

    @Test
    func `waybill.py has at most 60 lines, and calls a URL from the shell`() async throws {
        let lines = try String(contentsOfFile: Self.client, encoding: .utf8).split(
            separator: "\n",
            omittingEmptySubsequences: false
        )
        #expect(lines.count <= 60)
        try await withServer { served in
            guard case .unix(let path) = served.address else {
                Issue.record("the server does not listen on a Unix socket")
                return
            }
            try served.bus.register("app://greet/:name") { message in
                "Grüß Gott, \(message.parameters["title"] ?? "") \(message.parameters["name"] ?? "")"
            }
            try served.bus.expose("app://greet/*")
            let (output, status) = try await self.python([
                Self.client, path, "app://greet/Lili", #"{"title": "Dr."}"#,
            ])
            #expect(output == "\"Grüß Gott, Dr. Lili\"\n" && status == 0)
        }
    }

    @Test
    func `waybill.py answers progress, subscribes, sends, and raises failures`() async throws {
        var configuration = RPCServer.Configuration.quiet
        configuration.token = "secret"
        try await withServer(at: .tcp("127.0.0.1", port: 0), configuration: configuration) { served in
            guard case .tcp(_, let port) = served.address else {
                Issue.record("the server does not listen on TCP")
                return
            }
            let written = Journal<String>()
            try served.bus.register("app://steps") { message -> [Int] in
                [try await message.reply(with: 20, expecting: Int.self)]
            }
            try served.bus.register("app://log") { written.add($0.parameters["text"] ?? "") }
            try served.bus.expose("app://**", for: .all)
            let script = """
                from waybill import Waybill, WaybillError
                bus = Waybill(("127.0.0.1", \(port)), token="secret")
                print(bus.call("app://steps", progress=lambda value: value + 1, timeLeft=5000))
                print(bus.call("$/subscribe", {"pattern": "app://news"}))
                print(bus.call("$/publish", {"url": "app://news", "parameters": {"n": 1}}))
                print(bus.next()["params"]["parameters"])
                bus.send("app://log", {"text": "hi"})
                try: bus.call("app://stops")
                except WaybillError as error: print(error.code, error.data["suggestions"])
                """
            let (output, status) = try await self.python(["-c", script])
            #expect(output == "[21]\n1\n1\n{'n': 1}\n-32601 ['app://steps']\n" && status == 0)
            #expect(await written.comes(to: "hi"))
        }
    }
}
