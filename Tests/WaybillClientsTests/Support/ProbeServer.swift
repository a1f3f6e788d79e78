#if HTTP && Macros
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Waybill
import WaybillClients
import WaybillDocuments
import WaybillEventLoop
import WaybillHTTP
import WaybillServe
import WaybillTestSupport

/// How a proxy breaks a connection: it closes the connection, or it forwards nothing more.
enum Break: String, CaseIterable {
    case cut, silence
}

/// A bus with the module of the tests, behind a Unix socket, TCP and HTTP.
struct ProbeServer {
    let bus: MessageBus
    let received = Journal<Everything>()
    let notes = Journal<String>()
    let folder: String

    static let token = "secret"

    var socket: String { "\(self.folder)/socket" }

    /// Returns the text of a file in the folder, without the line break at its end; nil without such a file.
    func text(of name: String) -> String? {
        let text = try? String(contentsOfFile: "\(self.folder)/\(name)", encoding: .utf8)
        return text.flatMap { $0.hasSuffix("\n") ? String($0.dropLast()) : nil }
    }

    /// Runs a closure with a server, and with the folder of its clients.
    static func run(_ body: (ProbeServer) async throws -> Void) async throws {
        try await withFolder { folder in
            let bus = MessageBus(eventLoop: EventLoop(name: "server"), configuration: .quiet)
            let server = ProbeServer(bus: bus, folder: folder)
            try await bus.install { ProbeModule(received: server.received, notes: server.notes) }
            try bus.expose("app://probe/**", for: [.calls, .sends])
            try bus.expose("app://news/:topic", for: [.publishing, .subscribing])
            let notes = server.notes
            try bus.register("app://messages/:text") { message in
                notes.add("message \(message.parameters["text"] ?? "")")
            }
            try bus.expose("app://messages/:text", for: .sends)
            let document = bus.document(of: .exposed)
            for (language, name) in [(ClientLanguage.python, "probe.py"), (.typeScript, "probe.ts")] {
                let text = document.client(in: language, named: "Probe")
                try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
            }
            let outcome: Result<Void, any Error>
            do {
                outcome = .success(try await body(server))
            } catch {
                outcome = .failure(error)
            }
            await bus.shutDown()
            try outcome.get()
        }
    }

    /// Calls a closure with the addresses of the server, each in the form that a client reads.
    func withAddresses(_ body: (_ addresses: [String]) async throws -> Void) async throws {
        try await self.withSocket { _ in
            try await self.withSocket(at: .tcp("127.0.0.1", port: 0)) { address in
                try await self.withGateway { port in
                    guard case .tcp(_, let number) = address else { return }
                    try await body([
                        self.socket, "tcp:127.0.0.1:\(number)", "http://127.0.0.1:\(port)/bus",
                    ])
                }
            }
        }
    }

    /// Serves the bus with JSON-RPC while a closure runs.
    func withSocket(
        at address: StreamAddress? = nil,
        _ body: (StreamAddress) async throws -> Void
    ) async throws {
        var configuration = RPCServer.Configuration()
        configuration.token = Self.token
        configuration.logger = Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() }
        let server = RPCServer(
            self.bus,
            listening: address ?? .unix(self.socket),
            configuration: configuration
        )
        let bound = try await server.start()
        let task = Task { try await server.run() }
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await body(bound))
        } catch {
            outcome = .failure(error)
        }
        task.cancel()
        _ = try? await task.value
        try outcome.get()
    }

    /// Serves the bus with HTTP while a closure runs.
    ///
    /// `heartbeat` is the interval after which an idle stream sends a comment; nil for the default.
    func withGateway(
        heartbeat: Duration? = nil,
        _ body: (_ port: Int) async throws -> Void
    ) async throws {
        let logger = Logger(label: "waybill.tests") { _ in SwiftLogNoOpLogHandler() }
        let router = Router()
        var configuration = WaybillGateway.Configuration(logger: logger)
        if let heartbeat { configuration.heartbeat = heartbeat }
        let gateway = WaybillGateway(self.bus, configuration: configuration)
        router.addRoutes(gateway.routes, atPath: "/bus")
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { found.yield($0.localAddress?.port ?? 0) },
            logger: logger
        )
        // A server that is cancelled while it accepts a connection traps, so it is shut down instead.
        var services = ServiceGroupConfiguration(services: [application], logger: logger)
        services.maximumGracefulShutdownDuration = .seconds(10)
        let group = ServiceGroup(configuration: services)
        let task = Task { try await group.run() }
        var outcome = Result<Void, any Error>.success(())
        for await port in ports {
            do {
                try await body(port)
            } catch {
                outcome = .failure(error)
            }
            break
        }
        await group.triggerGracefulShutdown()
        try await task.value
        try outcome.get()
    }
}
#endif
