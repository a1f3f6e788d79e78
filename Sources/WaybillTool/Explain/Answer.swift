#if Tool
internal import Foundation
internal import WaybillRouting

/// The result for one URL, in the form that the command prints.
struct Answer: Encodable {
    var id: String?
    var matched: String?
    var parameters: [String: String] = [:]
    var error: String?
    var trace: [String]?

    /// Creates the result of matching a URL; if the table rejects a route, the trace contains the error.
    init(of url: String, routes: [String], in table: RouteTable<String>) {
        var table = table
        var trace: [String] = []
        for (index, route) in routes.enumerated() {
            do {
                try table.insert(route, route, fileID: "route", line: index + 1)
            } catch {
                trace.append("\(error)")
            }
        }
        let explanation = table.explain(url)
        self.matched = explanation.route?.pattern.text
        if explanation.route != nil { self.parameters = explanation.parameters?.all ?? [:] }
        self.error = explanation.error.map { "\($0.code): \($0.message)" }
        self.trace = trace + explanation.trace
    }

    enum CodingKeys: CodingKey {
        case id
        case matched
        case parameters
        case error
        case trace
    }

    /// Encodes a missing `matched` or `error` as null, and omits a missing `id` or `trace`.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(self.id, forKey: .id)
        try container.encode(self.matched, forKey: .matched)
        try container.encode(self.parameters, forKey: .parameters)
        try container.encode(self.error, forKey: .error)
        try container.encodeIfPresent(self.trace, forKey: .trace)
    }

    func json(pretty: Bool) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        if pretty { encoder.outputFormatting.insert(.prettyPrinted) }
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}
#endif
