#if Tool
internal import Foundation
internal import WaybillServe

/// A program that serves its bus, as the peer of a command.
struct ServedPeer: RequestPeer {
    private let client: RPCClient

    init(_ client: RPCClient) { self.client = client }

    func request(_ url: String, _ options: RPCRequestOptions) async throws -> String {
        try await self.client.request(url, options)
    }

    func watch(_ patterns: [String], _ take: @escaping @Sendable (String?) -> Void) async throws {
        await self.client.takeMessages { take($0) }
        for pattern in patterns {
            var options = RPCRequestOptions()
            let name = String(decoding: try JSONEncoder().encode(pattern), as: UTF8.self)
            options.parameters = "{\"pattern\":\(name)}"
            _ = try await self.client.request("$/subscribe", options)
        }
    }
}
#endif
