import Foundation
import WaybillTestSupport

/// The output and the exit status of a program.
struct Script {
    let output: String
    let status: Int32

    /// The end of the output in one line, for a failed expectation: a log that shows only the lines of failures then has it.
    var report: String { String(self.output.suffix(2000).replacing("\n", with: "⏎")) }

    /// Runs a program to its end.
    static func run(_ arguments: [String], in folder: String = "/") async throws -> Script {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.environment = ProcessInfo.processInfo.environment.merging(["PYTHONDONTWRITEBYTECODE": "1"]) {
            $1
        }
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = await onThread { pipe.fileHandleForReading.readDataToEndOfFile() }
        process.waitUntilExit()
        return Script(output: String(decoding: output, as: UTF8.self), status: process.terminationStatus)
    }

    /// Returns whether a program is installed.
    static func has(_ name: String) -> Bool {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }

    /// The folder of the repository.
    static let root = #filePath.components(separatedBy: "/Tests/")[0]

    /// The program mypy, or nil if it cannot be installed.
    static let mypy = Self.pythonTool("mypy", "mypy==1.18.2")

    /// The program pyright, or nil if it cannot be installed.
    ///
    /// The package downloads a program of Node when it runs for the first time, which not every machine can
    /// reach.
    static let pyright = Self.pythonTool("pyright", "pyright==1.1.414").flatMap {
        Self.succeeds([$0, "--version"]) ? $0 : nil
    }

    /// A Python that can import hypothesis, or nil if hypothesis cannot be installed.
    static let pythonWithHypothesis = Self.pythonTool("hypothesis", "hypothesis==6.155.2").map { _ in
        "\(Self.pythonTools)/bin/python"
    }

    /// A Python that can import jsonschema, or nil if jsonschema cannot be installed.
    static let pythonWithJSONSchema = Self.pythonTool("jsonschema", "jsonschema==4.26.0").map { _ in
        "\(Self.pythonTools)/bin/python"
    }

    /// The folder of a virtual environment.
    private static let pythonTools = "\(Self.root)/.build/python-tools"

    /// Returns a program of a virtual environment, and installs its package first; nil if that fails.
    private static func pythonTool(_ name: String, _ package: String) -> String? {
        let folder = Self.pythonTools
        let program = "\(folder)/bin/\(name)"
        if FileManager.default.isExecutableFile(atPath: program) { return program }
        for arguments in [
            ["python3", "-m", "venv", folder],
            ["\(folder)/bin/pip", "install", "--quiet", "--disable-pip-version-check", package],
        ] {
            guard Self.succeeds(arguments) else { return nil }
        }
        return program
    }

    /// Runs a command, and returns whether its exit status is 0.
    private static func succeeds(_ arguments: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }

    /// The options with which generated TypeScript is compiled.
    static let tsc = [
        "tsc", "--strict", "--target", "es2021", "--module", "es2022", "--moduleResolution", "node", "--lib",
        "es2021,dom",
    ]
}

/// Runs a closure with a new folder, whose path is short enough for sockets.
func withFolder<Result>(_ body: (String) async throws -> Result) async throws -> Result {
    let path = "/tmp/waybill-\(UInt32.random(in: .min ... .max))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try await body(path)
}
