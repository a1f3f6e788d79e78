#if Tool
internal import ArgumentParser
internal import WaybillServe

#if NATS
internal import WaybillNATS
#endif

/// The options that select the peer of a command: a program that serves its bus, or a cluster.
struct PeerOptions: ParsableArguments {
    @OptionGroup var connection: ConnectionOptions

    #if NATS
    @OptionGroup(title: "Instead of --connect, a cluster on NATS") var cluster: ClusterOptions
    #endif

    func validate() throws {
        #if NATS
        guard (self.connection.connect == nil) != (self.cluster.nats == nil) else {
            throw ValidationError("Give either --connect ADDRESS, or --nats URL with --realm NAME.")
        }
        if self.cluster.nats != nil { _ = try self.cluster.place }
        #else
        _ = try self.connection.address
        #endif
    }

    /// Runs requests; after a failure, writes a line to standard error and throws the exit status.
    func withPeer(_ body: (any RequestPeer) async throws -> Void) async throws {
        #if NATS
        if self.cluster.nats != nil {
            return try await self.cluster.withNode { bus, _ in
                try await body(ClusterPeer(bus))
            }
        }
        #endif
        let client = try self.connection.client()
        defer { client.close() }
        try await self.connection.report {
            try await body(ServedPeer(client))
        }
    }
}

/// A program or a cluster to which a command sends requests, and whose failures are `RPCRequestError`.
protocol RequestPeer {
    /// Sends a request, and waits for the reply.
    func request(_ url: String, _ options: RPCRequestOptions) async throws -> String

    /// Subscribes to patterns, and calls a closure with each message as JSON, and with nil at the end.
    func watch(_ patterns: [String], _ take: @escaping @Sendable (String?) -> Void) async throws
}
#endif
