#if Tool
internal import ArgumentParser
internal import WaybillDocuments

/// The command that compares two documents of a program's routes and lists the changes.
struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Lists the changes between two documents of routes, and marks those that break callers.",
        discussion: """
            Make the documents with `routes --document`. The exit status is 1 if a change breaks callers: a route or a \
            parameter is missing, a parameter has become required or accepts fewer values, or the type of a reply has \
            changed.

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
        let changes = try BusDocument(path: self.new).changes(since: try BusDocument(path: self.old))
        let shown = changes.filter { $0.isBreaking || !self.breaking }
        try Output.write(shown.map { "\(Output.printable("\($0)"))\n" }.joined())
        if changes.contains(where: \.isBreaking) { throw ExitCode.failure }
    }
}

extension BusDocument {
    /// Reads a document from a file.
    init(path: String) throws(FileError) {
        let text = try Output.text(ofFile: path)
        do {
            try self.init(json: text)
        } catch {
            throw FileError(path, .invalid, because: "\(error)")
        }
    }
}
#endif
