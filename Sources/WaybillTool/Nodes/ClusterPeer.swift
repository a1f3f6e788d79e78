#if Tool && NATS
internal import Waybill
internal import WaybillRouting
internal import WaybillServe

/// A cluster as the peer of a command, which joins the cluster with a node that shares no routes.
struct ClusterPeer: RequestPeer {
    /// The longest time for which a request waits until a node has a route for its URL.
    ///
    /// The routes of the nodes can arrive after the command has joined, because the network is slow.
    private static let patience = Duration.seconds(2)

    private let bus: MessageBus

    init(_ bus: MessageBus) { self.bus = bus }

    func request(_ url: String, _ options: RPCRequestOptions) async throws -> String {
        var options = options
        let start = ContinuousClock.now
        let end = start + min(Self.patience, options.timeLeft ?? Self.patience)
        while !self.bus.canRoute(url), .now < end { try await Task.sleep(for: .milliseconds(20)) }
        // Without a route, the request fails at once with `noRoute`.
        if self.bus.canRoute(url) { options.timeLeft? -= start.duration(to: .now) }
        return try await self.bus.request(url, options)
    }

    func watch(_ patterns: [String], _ take: @escaping @Sendable (String?) -> Void) async throws {
        do throws(RoutingError) {
            for pattern in patterns {
                try self.bus.share(pattern, for: .publishing)
                // A separate task writes the messages, because a pipe that nobody reads must not block the
                // node.
                let messages = try self.bus.subscription(to: pattern, whenFull: .dropOldest)
                Task { for await message in messages { take(message.publishedJSON) } }
            }
        } catch {
            throw RPCRequestError(error.code, error.message)
        }
    }
}
#endif
