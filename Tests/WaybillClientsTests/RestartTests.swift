#if HTTP && Macros && Web
import Foundation
import Testing
import Waybill
import WaybillEventLoop
import WaybillServe
import WaybillTestSupport
import WaybillWeb

/// The generated client in Swift against a server in another process, which is killed and started again.
///
/// `Tests/Clients/restart.py` tests the clients in the other languages.
@Suite(.timeLimit(.minutes(10)))
struct RestartTests {
    enum Transport: CaseIterable {
        case unix, http
    }

    private static var isLong: Bool { ProcessInfo.processInfo.environment["WAYBILL_SOAK"] == "1" }

    @Test(arguments: Transport.allCases)
    func `a call in flight fails when the server is killed, and the next call succeeds`(
        transport: Transport
    ) async throws {
        try await Self.withServer { server in
            try await server.start()
            let client = try server.client(over: transport)
            for round in 0..<(Self.isLong ? 40 : 2) {
                if round > 0 { try await server.start() }
                let reply = try await client.probe.trace(options: .init(headers: ["traceparent": "\(round)"]))
                #expect(reply == "\(round)")
                // A server that is stopped does not reply, so the call is in flight.
                try await server.stop()
                let call = Task { try await client.probe.trace() }
                try await Task.sleep(for: .milliseconds(200))
                server.kill()
                let error = await #expect(throws: RoutingError.self) { try await call.value }
                #expect(error?.code == .unreachable, "\(error as Any)")
            }
            await client.bus.shutDown()
        }
    }

    @Test(arguments: Transport.allCases)
    func `a subscription goes on after the server was killed, and reports a gap`(
        transport: Transport
    ) async throws {
        try await Self.withServer { server in
            try await server.start()
            let marks = Journal<Bool>()
            let (socket, address) = (server.socket, server.address)
            let reading = Task {
                switch transport {
                case .unix:
                    let messages = RPCConnector(.unix(socket)).subscription(to: "app://news/*")
                    for try await message in messages { marks.add(message.isAfterGap) }
                case .http:
                    let messages = GatewayConnector(address).subscription(to: "app://news/*")
                    for try await message in messages { marks.add(message.isAfterGap) }
                }
            }
            for round in 0..<(Self.isLong ? 40 : 2) {
                if round > 0 {
                    server.kill()
                    try await server.start()
                }
                let known = marks.entries.count
                try await server.publish { marks.entries.count >= known + 2 }
                #expect(marks.entries[known] == (round > 0) && marks.entries[known + 1] == false)
            }
            reading.cancel()
            // A subscription that has failed throws its error here.
            try await reading.value
        }
    }

    @Test(arguments: Transport.allCases)
    func `a Swift client does not grow with its calls`(transport: Transport) async throws {
        let count = Self.isLong ? 100_000 : Scale.of(2000)
        try await Self.withServer { server in
            try await server.start()
            let address = transport == .unix ? server.socket : server.address
            let run = try await Script.run([KilledServer.program, "growth", address, "\(count)"])
            try #require(run.status == 0, "\(run.output)")
            // On a busy machine, the log of the program may precede the number.
            let last = run.output.split(separator: "\n").last ?? ""
            let grown = try #require(Int(last), "\(run.output)")
            #expect(grown < 2 << 20)
        }
    }

    private static func withServer(_ body: (KilledServer) async throws -> Void) async throws {
        try await withFolder { folder in
            let server = KilledServer(in: folder)
            defer { server.kill() }
            try await body(server)
        }
    }
}

/// A process of `ProbeProgram` that serves the same addresses each time it is started.
private final class KilledServer {
    static let program =
        Bundle.main.executableURL?.deletingLastPathComponent()
        .appending(path: "ProbeProgram").path ?? ""

    let socket: String
    /// The port that the system has chosen at the first start.
    private var port = 0
    private var process: Process?

    init(in folder: String) { self.socket = "\(folder)/socket" }

    var address: String { "http://127.0.0.1:\(self.port)/bus" }

    func client(over transport: RestartTests.Transport) throws -> ProbeClient {
        let bus = MessageBus(configuration: .quiet)
        return switch transport {
        case .unix: try ProbeClient(RPCConnector(.unix(self.socket)), on: bus)
        case .http: try ProbeClient(GatewayConnector(self.address), on: bus)
        }
    }

    /// Starts the process, and waits until it serves both addresses.
    func start() async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments = ["serve", self.socket, "\(self.port)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        self.process = process
        let line = await onThread { output.fileHandleForReading.availableData }
        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        self.port = try #require(Int(text), "the server does not print its port")
        let connectors: [any RemoteConnector] = [
            RPCConnector(.unix(self.socket)), GatewayConnector(self.address),
        ]
        for connector in connectors {
            let isServed = await eventually { (try? await connector.fingerprint()) != nil }
            try #require(isServed, "the server does not start")
        }
    }

    /// Stops the process without ending it, so that it does not reply.
    func stop() async throws {
        let processID = try #require(self.process).processIdentifier
        Foundation.kill(processID, SIGSTOP)
        // The signal takes effect later. The state follows the name of the program.
        let isStopped = try await eventually {
            try String(contentsOfFile: "/proc/\(processID)/stat", encoding: .utf8).contains(") T ")
        }
        try #require(isStopped)
    }

    func kill() {
        guard let process = self.process else { return }
        self.process = nil
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Publishes messages until a condition holds.
    func publish(until condition: () -> Bool) async throws {
        let bus = MessageBus(configuration: .quiet)
        try bus.connect("http", to: WebConnector())
        let end = ContinuousClock.now + .seconds(20)
        while !condition() {
            try #require(ContinuousClock.now < end, "the messages do not arrive")
            let data = #"{"specversion":"1.0","id":"1","source":"/t","type":"t","data":{"n":1}}"#
            let response: WebResponse = try await bus.route(
                "\(self.address)/app/news/x",
                parameters: ["body": data],
                headers: ["Content-Type": "application/cloudevents+json"]
            )
            try #require(response.status == 204)
            try await Task.sleep(for: .milliseconds(20))
        }
        await bus.shutDown()
    }
}
#endif
