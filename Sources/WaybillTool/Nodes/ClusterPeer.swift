#if Tool && NATS
internal import Waybill
internal import WaybillRouting
internal import WaybillServe

/// The nodes of a cluster, as a node sees them that shares nothing.
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
                // A separate task writes the messages, so that a pipe that is not read does not block the
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
