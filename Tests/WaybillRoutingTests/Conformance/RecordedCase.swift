import Foundation
import WaybillRouting

/// One recorded case: a table, a URL, and the recorded answer.
struct RecordedCase {
    let id: String
    var url: String
    var expected: Answer

    /// A router's answer to a URL.
    struct Answer: Equatable, CustomStringConvertible {
        var matched: String?
        var parameters: [String: String]
        /// Compared only if it was recorded.
        var canRoute: Bool?
        var isRefused: Bool?
        var scheme: String?

        var description: String {
            let parts = self.parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            return "\(self.matched ?? "nothing") [\(parts.joined(separator: ", "))]"
                + " \(self.canRoute.map { "canRoute=\($0)" } ?? "")"
                + " \(self.isRefused.map { "refused=\($0)" } ?? "") \(self.scheme ?? "")"
        }
    }

    /// The table of the case; the handler of a pattern is the name that the case uses for it.
    var table: RouteTable<String>
    var call: [String: any Sendable] = [:]

    /// The table's answer to the URL of the case.
    func answer() -> Answer {
        var answer = Answer(matched: nil, parameters: [:])
        do {
            if let match = try self.table.match(self.url), let name = self.table[match] {
                answer.matched = name
                answer.parameters = match.parameters.merging(call: self.call).all
                answer.scheme = self.expected.scheme == nil ? nil : match.parameters.address.scheme
            } else if self.expected.scheme != nil {
                answer.scheme = self.expected.scheme
            }
            if self.expected.isRefused != nil { answer.isRefused = false }
        } catch {
            if self.expected.isRefused != nil { answer.isRefused = error.code == .refused }
            if self.expected.scheme != nil { answer.scheme = self.expected.scheme }
        }
        if self.expected.canRoute != nil { answer.canRoute = self.table.canRoute(self.url) }
        return answer
    }

    init(_ json: JSON, _ conventions: RoutingConventions, defaultScheme: String) {
        self.id = json["id"]?.text ?? ""
        self.url = json["url"]?.text ?? ""
        let expected = json["expect"]?.object ?? [:]
        let parameters = expected["parameters"] ?? expected["params"]
        self.expected = Answer(
            matched: expected["matched"]?.string,
            parameters: parameters?.object.mapValues(\.text) ?? [:]
        )
        self.table = RouteTable(conventions: conventions, defaultScheme: defaultScheme)
    }
}

/// A JSON value of any shape: the recorded cases differ from file to file.
enum JSON: Decodable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    subscript(key: String) -> JSON? { self.object[key] }

    var isNull: Bool { if case .null = self { true } else { false } }
    var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    var string: String? { if case .string(let value) = self { value } else { nil } }
    var array: [JSON] { if case .array(let value) = self { value } else { [] } }
    var object: [String: JSON] { if case .object(let value) = self { value } else { [:] } }
    var strings: [String] { self.array.compactMap(\.string) }

    /// The text of the value as handlers read it.
    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .number(let value): value == value.rounded() ? "\(Int(value))" : "\(value)"
        case .string(let value): value
        case .array(let values): "[\(values.map(\.text).joined(separator: ", "))]"
        case .object(let values): "\(values.keys.sorted())"
        }
    }
}
