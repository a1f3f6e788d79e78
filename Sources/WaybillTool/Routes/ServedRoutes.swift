#if Tool
internal import Foundation

/// The routes that a server exposes, decoded from its reply to `$/routes`.
struct ServedRoutes: Decodable {
    struct Route: Decodable {
        struct Parameter: Decodable {
            let name: String
            let type: String
        }

        let pattern: String
        let documentation: String?
        let parameters: [Parameter]
    }

    let routes: [Route]

    init(from decoder: any Decoder) throws {
        self.routes = try decoder.singleValueContainer().decode([Route].self)
    }

    /// One line for each route: its pattern, its parameters, and the first line of its documentation.
    var lines: [String] {
        let rows = self.routes.map { route in
            [
                route.pattern,
                route.parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", "),
                String(route.documentation?.prefix { !$0.isNewline } ?? ""),
            ].map(Output.printable)
        }
        let widths = (0..<2).map { column in rows.map(\.[column].count).max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths + [0]).map { cell, width in
                cell + String(repeating: " ", count: max(0, width - cell.count))
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
#endif
