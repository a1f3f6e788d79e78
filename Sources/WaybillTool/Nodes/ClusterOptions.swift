#if Tool && NATS
internal import ArgumentParser
internal import Logging
internal import Waybill
internal import WaybillNATS
internal import WaybillRouting

/// Where a command finds a cluster.
struct ClusterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The URL of a NATS server: nats://HOST:PORT or tls://HOST:PORT.", valueName: "url")
    )
    var nats: String

    @Option(help: "The realm of the cluster.")
    var realm: String

    @Option(help: ArgumentHelp("A file with credentials, as `nsc` writes it.", valueName: "file"))
    var credentials: String?

    @Flag(help: "Talks to a server on another machine without encryption.")
    var allowPlaintext = false

    /// Runs a closure as a node of the cluster that shares nothing; a failure becomes a line on standard
    /// error and the exit status.
    func withNode(_ body: (MessageBus, ClusterNode) async throws -> Void) async throws {
        var security = NATSTransport.Security()
        security.credentialsFile = self.credentials
        security.allowsPlaintext = self.allowPlaintext
        var configuration = ClusterNode.Configuration()
        configuration.name = "waybill"
        // What is wrong is said once, on standard error.
        let silent = Logger(label: "waybill") { _ in SwiftLogNoOpLogHandler() }
        configuration.logger = silent
        let bus = MessageBus(configuration: .init(logger: silent))
        let transport = NATSTransport(servers: [self.nats], realm: self.realm, security: security)
        let node = bus.join(transport, configuration: configuration)
        do {
            try await node.start()
            let running = Task { try await node.run() }
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(bus, node))
            } catch {
                result = .failure(error)
            }
            node.beginGracefulShutdown()
            _ = try? await running.value
            try result.get()
        } catch let error as RoutingError {
            Output.complain("\(error.code): \(error.message)")
            throw ExitCode(RequestFailure.status(of: error.code))
        }
    }
}
#endif
