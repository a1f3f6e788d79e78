#if Tool && Durable
internal import Foundation
internal import WaybillDurable
internal import WaybillServe

/// The operations of `waybill store`, on a file or through the process that has the file open.
protocol StoreOperations: Sendable {
    func messages(
        in state: DurableRecord.State?,
        matching pattern: String?,
        id: Int?,
        after previous: Int,
        limit: Int
    ) async throws -> [DurableRecord]
    func retry(matching pattern: String?, id: Int?) async throws -> Int
    func drop(matching pattern: String?, id: Int?) async throws -> Int
    func schedules() async throws -> [DurableSchedule]
    func statistics() async throws -> DurableStatistics
    func check() async throws -> [String]
}

extension DurableStore: StoreOperations {}

/// The store of a running process, which is reached by the routes of `MessageBus.registerOperations`.
///
/// The methods throw `RPCRequestError`, or `DecodingError` if the routes do not belong to a store.
struct ServedStore: StoreOperations {
    private let client: RPCClient
    private let url: String

    /// The parameters of a request; a parameter that the request does not have is nil.
    private struct Selection: Encodable {
        var state: DurableRecord.State?
        var matching: String?
        var id: Int?
        var after: Int?
        var limit: Int?
    }

    init(_ client: RPCClient, at url: String) {
        self.client = client
        self.url = url
    }

    func messages(
        in state: DurableRecord.State?,
        matching pattern: String?,
        id: Int?,
        after previous: Int,
        limit: Int
    ) async throws -> [DurableRecord] {
        try await self.call(
            "messages",
            Selection(state: state, matching: pattern, id: id, after: previous, limit: limit)
        )
    }

    func retry(matching pattern: String?, id: Int?) async throws -> Int {
        try await self.call("retry", Selection(matching: pattern, id: id))
    }

    func drop(matching pattern: String?, id: Int?) async throws -> Int {
        try await self.call("drop", Selection(matching: pattern, id: id))
    }

    func schedules() async throws -> [DurableSchedule] { try await self.call("schedules") }

    func statistics() async throws -> DurableStatistics { try await self.call("statistics") }

    func check() async throws -> [String] { try await self.call("check") }

    private func call<Value: Decodable>(
        _ name: String,
        _ selection: Selection = Selection()
    ) async throws -> Value {
        var options = RPCRequestOptions()
        options.parameters = String(decoding: try JSONEncoder().encode(selection), as: UTF8.self)
        let reply = try await self.client.request("\(self.url)/\(name)", options)
        return try JSONDecoder().decode(Value.self, from: Data(reply.utf8))
    }
}
#endif
