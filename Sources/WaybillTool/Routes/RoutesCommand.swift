#if Tool
internal import ArgumentParser
internal import Foundation

/// Checks a file of patterns and prints the table they make.
struct RoutesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes",
        abstract: "Checks a file of patterns, one on each line, and prints the table, conflicts first.",
        discussion: "Empty lines and lines that begin with `#` are skipped. Fails when a pattern is refused."
    )

    @OptionGroup var options: TableOptions

    @Argument(help: "The file.")
    var file: String

    func run() throws {
        let text = try String(contentsOf: URL(filePath: self.file), encoding: .utf8)
        let report = RoutesReport(text, file: self.file, self.options)
        for line in report.lines { print(line) }
        if !report.problems.isEmpty { throw ExitCode.failure }
    }
}
#endif
