#if Tool
internal import ArgumentParser
internal import Foundation
internal import WaybillDocuments

/// The command that compares two documents of a program's routes and lists the changes.
struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Lists the changes between two documents of routes, and marks those that break callers.",
        discussion: """
            The documents are what `routes --document` prints. The exit code is 1 if a change breaks callers: a route or \
            a parameter is gone, one is required or takes less than before, or a reply is another.

            EXAMPLES:
              shop routes --document > new.json
              waybill diff old.json new.json
            """
    )

    @Flag(help: "Hides changes that do not break callers.")
    var breaking = false

    @Argument(help: "The older document.")
    var old: String

    @Argument(help: "The newer document.")
    var new: String

    func run() async throws {
        let changes = try Self.read(self.new).changes(since: try Self.read(self.old))
        let shown = changes.filter { $0.isBreaking || !self.breaking }
        try Output.write(shown.map { "\(Output.printable("\($0)"))\n" }.joined())
        if changes.contains(where: \.isBreaking) { throw ExitCode.failure }
    }

    private static func read(_ path: String) throws -> BusDocument {
        do {
            return try BusDocument(json: try String(contentsOf: URL(filePath: path), encoding: .utf8))
        } catch {
            throw ValidationError("\(path): \(error)")
        }
    }
}
#endif
