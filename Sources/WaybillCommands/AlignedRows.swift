#if Tool
/// Rows of text as lines in which the cells of a column begin at the same place.
package enum AlignedRows {
    /// Returns a line for each row, without spaces at its end.
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
