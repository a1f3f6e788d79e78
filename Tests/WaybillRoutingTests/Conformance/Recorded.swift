import WaybillRouting

/// One recorded case: a table, what is asked of it, and what was answered.
struct Recorded {
    let id: String
    var url: String
    var expected: Answer

    /// What a router says to a URL.
    struct Answer: Equatable, CustomStringConvertible {
        var matched: String?
        var parameters: [String: String]
        /// What is compared where it was recorded.
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

    /// The table of a case, each pattern registered with the name that the case knows it by.
    var table: RouteTable<String>
    var call: [String: any Sendable] = [:]

    /// What the table says to the URL of the case.
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
