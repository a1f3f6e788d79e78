/// The failure of a wait, with the whole contents of the terminal.
struct TerminalError: Error, CustomStringConvertible {
    /// The expected contents.
    let wanted: String

    /// Why the wait ended.
    let reason: String

    /// The rows that were on the screen.
    let lines: [String]

    var description: String {
        let rows = self.lines.map { "  | \($0)" }.joined(separator: "\n")
        return "waited for \(self.wanted), but \(self.reason); the screen shows:\n\(rows)"
    }
}
