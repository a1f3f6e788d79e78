internal import Waybill

/// A route, as it is printed.
struct RouteReport: Encodable {
    struct Parameter: Encodable {
        let name: String
        let type: String
    }

    let pattern: String
    let parameters: [Parameter]
    let file: String
    let line: Int

    init(_ route: Route) {
        self.pattern = route.pattern.text
        self.parameters = route.parameters.map { Parameter(name: $0.name, type: $0.type) }
        self.file = route.fileID
        self.line = route.line
    }

    /// All routes, with their columns in line.
    static func table(_ routes: [Route]) -> String {
        let rows = routes.map(Self.init).map { route in
            let parameters = route.parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
            return [route.pattern, parameters, "\(route.file):\(route.line)"]
        }
        return TextTable(header: ["PATTERN", "PARAMETERS", "REGISTERED AT"], rows: rows).description
    }
}
