/// Rows of text, with their columns in line.
struct TextTable: CustomStringConvertible {
    let header: [String]
    let rows: [[String]]

    var description: String {
        let rows = [self.header] + self.rows
        let widths = self.header.indices.map { column in rows.map { $0[column].displayWidth }.max() ?? 0 }
        let lines = rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.displayWidth) }
            return String(Substring(cells.joined(separator: "  ")).trimmingEnd)
        }
        return lines.joined(separator: "\n")
    }
}

extension Substring {
    /// The text without the spaces at its end.
    fileprivate var trimmingEnd: Substring {
        var rest = self
        while rest.last == " " { rest.removeLast() }
        return rest
    }
}
