#if Tool && NATS
internal import Waybill
internal import WaybillRouting
internal import WaybillServe

/// A cluster as the peer of a command, which joins the cluster with a node that shares no routes.
struct ClusterPeer: RequestPeer {
    private let bus: MessageBus

    init(_ bus: MessageBus) { self.bus = bus }

    func request(_ url: String, _ options: RPCRequestOptions) async throws -> String {
        try await self.bus.request(url, options)
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
