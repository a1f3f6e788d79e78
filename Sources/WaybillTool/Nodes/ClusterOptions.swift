#if Tool && NATS
internal import ArgumentParser
internal import Logging
internal import Waybill
internal import WaybillNATS
internal import WaybillRouting
internal import WaybillServe

/// The options that select a cluster.
struct ClusterOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The URL of a NATS server: nats://HOST:PORT or tls://HOST:PORT.", valueName: "url")
    )
    var nats: String?

    @Option(help: "The realm of the cluster, which is the name that its nodes join.")
    var realm: String?

    @Option(help: ArgumentHelp("A NATS credentials file, such as `nsc` writes.", valueName: "file"))
    var credentials: String?

    @Flag(help: "Allows an unencrypted connection to a server on another machine.")
    var allowPlaintext = false

    /// The server and the realm, for a command that requires both options.
    var place: (server: String, realm: String) {
        get throws {
            guard let nats else { throw ValidationError("Missing expected argument '--nats <url>'") }
            guard let realm else { throw ValidationError("Missing expected argument '--realm <realm>'") }
            return (nats, realm)
        }
    }

    /// Runs a closure with a node that joins the cluster and shares no routes; after a failure, writes a line
    /// to standard error and throws the exit status.
    func withNode(_ body: (MessageBus, ClusterNode) async throws -> Void) async throws {
        let (server, realm) = try self.place
        var security = NATSTransport.Security()
        security.credentialsFile = self.credentials
        security.allowsPlaintext = self.allowPlaintext
        var configuration = ClusterNode.Configuration()
        configuration.name = "waybill"
        // The command reports failures on standard error, so the bus and the node do not log them again.
        let silent = Logger(label: "waybill") { _ in SwiftLogNoOpLogHandler() }
        configuration.logger = silent
        let bus = MessageBus(configuration: .init(logger: silent))
        let transport = NATSTransport(servers: [server], realm: realm, security: security)
        let node = bus.join(transport, configuration: configuration)
        // The node forgets the other nodes when it shuts down.
        var hasNodes = false
        try await RequestFailure.report(.cluster(realm: realm, hasNodes: hasNodes)) {
            do {
                try await node.start()
            } catch let error as RoutingError {
                throw RPCRequestError(error.code, error.message)
            }
            let running = Task { try await node.run() }
            let result: Result<Void, any Error>
            do {
                result = .success(try await body(bus, node))
            } catch {
                result = .failure(error)
            }
            hasNodes = !node.members.isEmpty
            node.beginGracefulShutdown()
            _ = try? await running.value
            try result.get()
        }
    }
}
#endif
