#if Tool
/// Converts rows of cells to lines of text in which the cells of each column are aligned.
package enum AlignedRows {
    /// Returns a line for each row.
    ///
    /// A line has no spaces at its end.
    ///
    /// - Parameter rows: The rows, each with the same number of cells.
    /// - Returns: The lines.
    package static func lines(_ rows: [[String]]) -> [String] {
        let widths = (0..<(rows.first?.count ?? 0)).map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let line = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
                .joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
#endif
