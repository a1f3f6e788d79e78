#if Tool
internal import ArgumentParser
internal import Foundation
internal import WaybillCommands
internal import WaybillDocuments
internal import WaybillServe

/// The command that checks a file of patterns and prints its table, or lists the routes that a running
/// program exposes.
struct RoutesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "routes",
        abstract: "Checks a file of patterns, or lists what a running program exposes (--connect).",
        discussion: """
            With a file, the command prints the rejected patterns, conflicts first, and then the table of routes. The \
            file has one pattern on each line. Empty lines and lines that begin with `#` are skipped. The exit status \
            is 1 if a pattern is invalid or conflicts with another one.

            EXAMPLES:
              waybill routes patterns.txt
              waybill routes --connect shop.sock
              waybill routes --connect shop.sock --openapi --gateway-path /bus
              waybill routes --connect shop.sock --site shop-routes
            """
    )

    @OptionGroup var options: TableOptions

    @OptionGroup var connection: ConnectionOptions

    @Flag(help: "With --connect: prints the routes as JSON.")
    var json = false

    @OptionGroup(title: "Documents of a server's routes") var document: DocumentOptions

    @Argument(help: "A file of patterns, one on each line.")
    var file: String?

    func validate() throws {
        guard (self.file == nil) != (self.connection.connect == nil) else {
            throw ValidationError("Give either a file or --connect ADDRESS.")
        }
        if self.json, self.file != nil {
            throw ValidationError("--json prints the routes of a server: give --connect ADDRESS.")
        }
        guard self.document.isAsked else { return }
        if self.connection.connect == nil {
            throw ValidationError("A document describes the routes of a server: give --connect ADDRESS.")
        }
        if self.json { throw ValidationError("Give --json or one kind of document.") }
    }

    func run() async throws {
        if let file { return try self.check(file) }
        let client = try self.connection.client()
        defer { client.close() }
        if self.document.isAsked {
            let reply = try await self.connection.report { try await client.request("$/document") }
            return try self.write(try BusDocument(json: reply))
        }
        let reply = try await self.connection.report { try await client.request("$/routes") }
        if self.json { return try Output.write(json: reply) }
        let served = try JSONDecoder().decode(ServedRoutes.self, from: Data(reply.utf8))
        if served.routes.isEmpty { Output.complain("the server exposes no routes") }
        try Output.write(served.lines.map { $0 + "\n" }.joined())
    }

    private func write(_ document: BusDocument) throws {
        let title = self.document.title(or: self.connection.connect?.argument ?? "")
        do {
            try self.document.write(document.named(title, version: self.document.version)) { text in
                try Output.write(lines: text.split(separator: "\n", omittingEmptySubsequences: false))
            }
        } catch let error as CocoaError {
            throw FileError(self.document.site ?? "", .unwritable, because: error.fileReason)
        }
    }

    private func check(_ file: String) throws {
        let text = try Output.text(ofFile: file)
        let report = RoutesReport(text, file: file, self.options)
        try Output.write(lines: report.lines)
        if !report.problems.isEmpty { throw ExitCode.failure }
    }
}
#endif
