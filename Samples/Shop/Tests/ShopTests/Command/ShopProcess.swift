import Foundation

/// The built program `shop`, run as a person or a script would run it.
struct ShopProcess {
    let status: Int32
    let output: String
    let errors: String

    var lines: [Substring] { self.output.split(separator: "\n") }
    var complaints: [Substring] { self.errors.split(separator: "\n") }

    /// Runs the shop to its end.
    init(_ arguments: String..., input: Data = Data()) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = ["in", "out", "err"].map { folder.appending(path: $0) }
        try input.write(to: files[0])
        for file in files.dropFirst() { try Data().write(to: file) }
        let process = Process()
        process.executableURL = Self.executable
        process.arguments = arguments
        process.standardInput = try FileHandle(forReadingFrom: files[0])
        process.standardOutput = try FileHandle(forWritingTo: files[1])
        process.standardError = try FileHandle(forWritingTo: files[2])
        try process.run()
        process.waitUntilExit()
        self.status = process.terminationStatus
        self.output = try String(contentsOf: files[1], encoding: .utf8)
        self.errors = try String(contentsOf: files[2], encoding: .utf8)
    }

    /// The program is built into the folder of the test bundle.
    static var executable: URL {
        URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "shop")
    }
}
