#if Tool
internal import WaybillRouting

/// The result of checking a file of patterns.
struct RoutesReport {
    /// The rejected patterns, each with the reason; conflicts come first.
    let problems: [String]
    private let rows: [String]

    init(_ text: String, file: String, _ options: TableOptions) {
        var table = options.table
        var conflicts: [String] = []
        var refused: [String] = []
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isLineBreak)
        for (index, line) in lines.enumerated() {
            let pattern = String(
                line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()
            )
            guard !pattern.isEmpty, !pattern.hasPrefix("#") else { continue }
            do {
                try table.insert(pattern, pattern, fileID: file, line: index + 1)
            } catch  where error.code == .conflict {
                conflicts.append("conflict: \(error.url): \(error.message)")
            } catch {
                refused.append("\(error.code): \(file):\(index + 1): \(error.url): \(error.message)")
            }
        }
        self.problems = conflicts + refused
        let routes = table.routes
        let width = routes.map(\.pattern.text.count).max() ?? 0
        self.rows = routes.map { route in
            let padding = String(repeating: " ", count: width - route.pattern.text.count)
            let parameters = route.parameters.map { "\($0.name): \($0.type)" }.joined(separator: ", ")
            let place = "\(route.fileID):\(route.line)"
            return "\(route.pattern.text)\(padding)  \(place)\(parameters.isEmpty ? "" : "  \(parameters)")"
        }
    }

    /// The report as lines of text.
    var lines: [String] { self.problems + self.rows }
}
#endif
