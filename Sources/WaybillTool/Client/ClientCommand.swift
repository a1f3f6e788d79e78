#if Tool
internal import ArgumentParser
internal import Foundation
internal import Waybill
internal import WaybillClients
internal import WaybillCommands
internal import WaybillDocuments
internal import WaybillServe

#if canImport(Darwin)
internal import Darwin
#else
internal import Glibc
#endif

/// The command that generates a client for the routes that a program exposes.
struct ClientCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "client",
        abstract: "Generates a client of a program, in Swift, TypeScript or Python.",
        discussion: """
            The client is one source file with a function for each route that the program exposes. The routes come from \
            the running program, or from a document that `routes --document` has made.

            EXAMPLES:
              waybill client --typescript --connect shop.sock --output shop.ts
              waybill client --python --document shop.json --output shop.py
              waybill client --swift --connect 127.0.0.1:7000 --output ShopClient.swift
            """
    )

    @Flag(help: "The language of the client.")
    var language: ClientLanguage

    @OptionGroup var connection: ConnectionOptions

    @Option(help: "A file with a document of the routes, in place of a running program.")
    var document: String?

    @Option(help: "The file to write. Without it, the client is printed.")
    var output: String?

    @Option(help: "The name of the client. (default: the name of the output file, or the document's title)")
    var name: String?

    func validate() throws {
        guard (self.document == nil) != (self.connection.connect == nil) else {
            throw ValidationError("Give either --document FILE or --connect ADDRESS.")
        }
    }

    func run() async throws {
        let document = try await self.readDocument()
        if !document.routes.contains(where: { !$0.exposure.isDisjoint(with: [.calls, .sends]) }) {
            Output.complain(
                "the document exposes no routes for calls or sends, so the client has no functions"
            )
        }
        let text = document.client(in: self.language, named: self.clientName(of: document))
        guard let output else { return try Output.write(text) }
        do {
            // An atomic write replaces the file, so it would also replace a link or a device.
            var information = stat()
            let exists = unsafe stat(output, &information) == 0
            if exists, information.st_mode & S_IFMT != S_IFREG {
                try text.write(toFile: output, atomically: false, encoding: .utf8)
            } else {
                let file = URL(filePath: output).resolvingSymlinksInPath()
                try text.write(to: file, atomically: true, encoding: .utf8)
            }
        } catch {
            throw FileError(output, .unwritable, because: error.fileReason)
        }
    }

    private func readDocument() async throws -> BusDocument {
        if let document { return try BusDocument(path: document) }
        let client = try self.connection.client()
        defer { client.close() }
        return try BusDocument(
            json: try await self.connection.report { try await client.request("$/document") }
        )
    }

    /// Returns the name of the client, without the word `Client` at its end.
    private func clientName(of document: BusDocument) -> String {
        let stem = self.output.map { URL(filePath: $0).deletingPathExtension().lastPathComponent }
        let name = self.name ?? stem ?? document.title
        return name.lowercased().hasSuffix("client") && name.count > 6 ? String(name.dropLast(6)) : name
    }
}

extension ClientLanguage: EnumerableFlag {
    static func name(for value: Self) -> NameSpecification { .customLong(value.rawValue.lowercased()) }

    static func help(for value: Self) -> ArgumentHelp? {
        switch value {
        case .python: "Python 3.11 with asyncio."
        case .typeScript: "TypeScript for browsers and Node."
        case .swift: "Swift, with the product Waybill and a connector of WaybillServe or WaybillWeb."
        }
    }
}
#endif
