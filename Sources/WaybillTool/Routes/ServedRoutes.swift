#if Tool
internal import Foundation
internal import WaybillCommands
internal import WaybillRouting

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
                String(route.documentation?.prefix { !$0.isLineBreak } ?? ""),
            ].map(Output.printable)
        }
        return AlignedRows.lines(rows)
    }
}
#endif
