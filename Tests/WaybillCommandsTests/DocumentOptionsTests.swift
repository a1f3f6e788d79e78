#if Tool
import ArgumentParser
import Foundation
import Testing
import Waybill
import WaybillCommands
import WaybillDocuments

/// The documents that each option prints.
struct DocumentOptionsTests {
    private func written(_ arguments: String...) async throws -> String {
        let bus = MessageBus()
        try bus.register("app://user/:id") { _ in 1 }
        try bus.expose("app://user/:id")
        let options = try DocumentOptions.parse(arguments)
        #expect(options.isAsked)
        var text = ""
        try options.write(bus.document(title: options.title(or: "program"))) { text += $0 }
        await bus.shutDown()
        return text
    }

    @Test(arguments: [
        ("--document", "\"waybill\": 1"), ("--asyncapi", "\"asyncapi\": \"3.0.0\""),
        ("--openapi", "\"openapi\": \"3.1.0\""), ("--markdown", "### `app://user/:id`"),
    ])
    func `each kind of document has a command line flag`(flag: String, text: String) async throws {
        #expect(try await self.written(flag).contains(text))
    }

    @Test func `options set the version, the path and the title of an OpenAPI document`() async throws {
        let text = try await self.written(
            "--openapi",
            "--openapi-version",
            "3.2",
            "--gateway-path",
            "/api",
            "--title",
            "users"
        )
        #expect(text.contains("\"openapi\": \"3.2.0\"") && text.contains("\"url\": \"/api\""))
        #expect(text.contains("\"title\": \"users\""))
    }

    @Test func `the site option writes one page into a folder`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-\(UUID())").path()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(try await self.written("--site", folder) == "\(folder)/index.html: 1 routes")
        #expect(
            try String(contentsOfFile: "\(folder)/index.html", encoding: .utf8).contains("app://user/:id")
        )
    }

    @Test(arguments: [
        ["--asyncapi", "--openapi"], ["--openapi", "--openapi-version", "2"], ["--document", "--site", "x"],
    ])
    func `options that exclude each other are rejected`(arguments: [String]) {
        #expect(throws: (any Error).self) { try DocumentOptions.parse(arguments) }
    }

    @Test func `no document is written without an option`() throws {
        #expect(try !DocumentOptions.parse([]).isAsked)
    }
}
#endif
