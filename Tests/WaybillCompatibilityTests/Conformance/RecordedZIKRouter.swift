internal import Waybill
internal import WaybillCompatibility
internal import WaybillRouting
internal import WaybillTestSupport

extension RecordedRouter {
    static let zikRouter = Self("zikrouter", comparisons: 52) { recorded in
        let patterns = recorded.config["register"]?.strings ?? []
        return try await Self.match(recorded, patterns, .quiet(by: .zikRouter), "params")
    }

    /// Cases of a router whose pattern language is Waybill's own, so they need no preset.
    static let routeLanguage = Self("route-language", comparisons: 660) { recorded in
        try await Self.match(recorded, recorded["routes"]?.strings ?? [], .quiet, "parameters")
    }

    /// Returns the match on a bus, with its values.
    private static func match(
        _ recorded: RecordedCase,
        _ patterns: [String],
        _ configuration: MessageBus.Configuration,
        _ column: String
    ) async throws -> [String: JSON] {
        let bus = MessageBus(configuration: configuration)
        let calls = Journal<(pattern: String, message: Message)>()
        for pattern in patterns {
            // A conflict is ignored, so the first of two patterns of the same shape stays. With the
            // conventions `.zikRouter`, the two patterns do not conflict, and the second replaces the first.
            _ = try? bus.register(pattern) { calls.add((pattern, $0)) }
        }
        let error = await failure { try await bus.route(recorded.url, parameters: recorded.parameters) }
        guard let call = calls.entries.first, error == nil else {
            return ["matched": .null, column: .object([:])]
        }
        return ["matched": .string(call.pattern), column: JSON(call.message.parameters.all)]
    }
}
