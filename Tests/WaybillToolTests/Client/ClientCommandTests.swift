#if Tool
import ArgumentParser
import Foundation
import Testing
import Waybill
import WaybillDocuments

@testable import WaybillTool

/// The command that generates clients.
struct ClientCommandTests {
    @Test(arguments: [("--python", "shop.py"), ("--typescript", "shop.ts"), ("--swift", "ShopClient.swift")])
    func `a server and its document generate the same client, named for its file`(
        flag: String,
        file: String
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "waybill-\(UUID())").path()
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await withServedBus { bus, connection in
            try bus.register("app://double/<int:number>") { _ in 2 }
            try bus.expose("app://double/*")
            let address = try #require(connection.connect?.argument)
            let output = "\(folder)/\(file)"
            try await ClientCommand.parse([flag, "--connect", address, "--output", output]).run()
            let ofServer = try String(contentsOfFile: output, encoding: .utf8)
            #expect(ofServer.contains("ShopClient"))
            try bus.document(of: .exposed).json.write(
                toFile: "\(folder)/json",
                atomically: true,
                encoding: .utf8
            )
            try await ClientCommand.parse([flag, "--document", "\(folder)/json", "--output", output]).run()
            #expect(try String(contentsOfFile: output, encoding: .utf8) == ofServer)
        }
    }

    @Test(arguments: [
        ["--python"], ["--document", "a"], ["--python", "--document", "a", "--connect", "b"],
        ["--python", "--swift", "--document", "a"],
    ])
    func `the client command needs one language and one source`(arguments: [String]) {
        #expect(throws: (any Error).self) { try ClientCommand.parse(arguments) }
    }
}
#endif
