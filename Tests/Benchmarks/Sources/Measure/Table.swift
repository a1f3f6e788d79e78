/// The results as a table for people.
public struct Table {
    private static let headings = [
        "figure", "median", "min - max", "peer", "median", "min - max", "ratio", "must", "goal",
    ]
    private var rows: [[String]] = []
    private var results: [Result] = []

    /// Creates a table without results.
    public init() {}

    /// Adds a line.
    public mutating func add(_ result: Result) {
        let unit = result.figure.unit
        self.results.append(result)
        self.rows.append([
            result.figure.name,
            "\(unit.text(result.value.median)) \(unit.rawValue)",
            Self.spread(result.value, unit),
            result.peer?.name ?? "",
            result.peer.map { unit.text($0.value.median) } ?? "",
            result.peer.map { Self.spread($0.value, unit) } ?? "",
            result.ratio.map { Format.number($0, digits: 2) } ?? "",
            Self.verdict(result.figure.must, result.holds, unit),
            Self.verdict(result.figure.goal, result.reachesGoal, unit),
        ])
    }

    /// The lines of the table as Markdown.
    public var lines: [String] {
        let rows = [Self.headings] + self.rows
        let widths = Self.headings.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = rows.map { row in
            "| "
                + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
                .joined(separator: " | ") + " |"
        }
        lines.insert(
            "| " + widths.map { String(repeating: "-", count: $0) }.joined(separator: " | ") + " |",
            at: 1
        )
        return lines
    }

    /// Returns the lines of the table in Docs/Performance.md.
    ///
    /// - Parameter date: The date of the measurement, which is the last column.
    /// - Returns: The heading of the table, and a line for each result.
    public func markdown(measured date: String) -> [String] {
        let rows = self.results.map { result in
            let unit = result.figure.unit
            let columns = [
                "`\(result.figure.name)`", unit.withUnit(result.value.median),
                result.ratio.map { Format.number($0, digits: 2) } ?? "",
                result.figure.must.map { $0.cell(unit) }.joined(separator: ", "),
                result.figure.goal.map { $0.cell(unit) }.joined(separator: ", "), date,
            ]
            return "|" + columns.map { $0.isEmpty ? " |" : " \($0) |" }.joined()
        }
        return [
            "| figure | value | ratio to its peer | must | goal | measured |",
            "| --- | --- | --- | --- | --- | --- |",
        ] + rows
    }

    private static func spread(_ samples: Samples, _ unit: Unit) -> String {
        samples.low == samples.high ? "" : "\(unit.text(samples.low)) - \(unit.text(samples.high))"
    }

    private static func verdict(_ bounds: [Bound], _ holds: Bool?, _ unit: Unit) -> String {
        guard let holds else { return "" }
        return bounds.map { $0.text(unit) }.joined(separator: ", ") + (holds ? " yes" : " NO")
    }
}
