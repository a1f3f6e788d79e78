#if Tool
import ArgumentParser
import Foundation
import Testing
import Waybill
import WaybillDocuments

@testable import WaybillTool

/// The exit status of `waybill diff`.
struct DiffCommandTests {
    private func withFiles(_ body: (_ old: String, _ new: String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-\(UUID())").path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let bus = MessageBus()
        try bus.register("app://a") { _ in 1 }
        try bus.document().json.write(toFile: "\(folder)/old", atomically: true, encoding: .utf8)
        try bus.register("app://b") { _ in 1 }
        try bus.document().json.write(toFile: "\(folder)/new", atomically: true, encoding: .utf8)
        await bus.shutDown()
        try await body("\(folder)/old", "\(folder)/new")
    }

    @Test func `the diff command exits with 0 for an added route, and with 1 for a removed one`() async throws
    {
        try await self.withFiles { old, new in
            try await DiffCommand.parse([old, new]).run()
            try await DiffCommand.parse([old, old]).run()
            await #expect(throws: ExitCode.failure) { try await DiffCommand.parse([new, old]).run() }
        }
    }

    @Test func `the diff command's error names a file that is not a document`() async throws {
        try await self.withFiles { old, _ in
            try "[]".write(toFile: "\(old).list", atomically: true, encoding: .utf8)
            for file in ["\(old).list", "\(old).absent"] {
                let error = await #expect(throws: FileError.self) {
                    try await DiffCommand.parse([old, file]).run()
                }
                #expect(error?.description.hasPrefix("\(file): ") == true)
            }
        }
    }

    @Test func `the error of a file that cannot be read is one sentence with the path`() async throws {
        try await self.withFiles { old, _ in
            try Data([0xFF]).write(to: URL(filePath: "\(old).bytes"))
            for path in ["\(old).bytes", "\(old).absent"] {
                let errors = [
                    await failure { try await DiffCommand.parse([old, path]).run() },
                    await failure { try await RoutesCommand.parse([path]).run() },
                    await failure { try ExplainCommand.parse(["--cases", path]).run() },
                    await failure {
                        try await RoutesCommand.parse(["--connect", "s", "--token-file", path]).run()
                    },
                ]
                for error in errors {
                    let error = try #require(error as? FileError)
                    #expect(error.status.rawValue == 66)
                    let text = error.description
                    #expect(text.contains("\(path): ") && !text.contains("NSCocoaErrorDomain"), "\(text)")
                }
            }
        }
    }

    private func failure(_ body: () async throws -> Void) async -> (any Error)? {
        do {
            try await body()
            return nil
        } catch {
            return error
        }
    }
}
#endif
