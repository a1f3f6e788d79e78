import Foundation
import Testing
import WaybillClients
import WaybillDocuments
import WaybillTestSupport

/// The texts of generated clients, which are the same each time, and which the compilers of their languages
/// accept.
@Suite(.timeLimit(.minutes(60)))
struct GeneratedTextTests {
    /// The number of random documents.
    private static let count =
        ProcessInfo.processInfo.environment["WAYBILL_SOAK"] == "1" ? 1000 : Scale.of(60)

    /// Writes a client for each of a number of random documents into a folder.
    private func write(
        _ language: ClientLanguage,
        ending: String,
        seeds: Range<Int>,
        to folder: String
    ) throws {
        for seed in seeds {
            let document = try RandomDocument.make(seed: UInt64(seed))
            let text = document.client(in: language, named: "Random\(seed)")
            try text.write(toFile: "\(folder)/random_\(seed).\(ending)", atomically: true, encoding: .utf8)
        }
    }

    /// Calls a closure with the files of fifty documents at a time.
    private func withFiles(
        _ language: ClientLanguage,
        ending: String,
        _ body: (_ folder: String, _ files: [String]) async throws -> Void
    ) async throws {
        for start in stride(from: 0, to: Self.count, by: 50) {
            let seeds = start..<min(start + 50, Self.count)
            try await withFolder { folder in
                try self.write(language, ending: ending, seeds: seeds, to: folder)
                try await body(folder, seeds.map { "random_\($0).\(ending)" })
            }
        }
    }

    @Test(arguments: ClientLanguage.allCases)
    func `the same document always generates the same client`(language: ClientLanguage) throws {
        for seed in 0..<20 as Range<UInt64> {
            let first = try RandomDocument.make(seed: seed)
            let second = try BusDocument(json: first.json)
            #expect(first.client(in: language, named: "Shop") == second.client(in: language, named: "Shop"))
            #expect(first.client(in: language, named: "Shop").contains(first.fingerprint))
        }
    }

    @Test func `a fingerprint depends on the routes, and not on the title or the comments`() throws {
        let tree = try JSONTree(json: try RandomDocument.make(seed: 3).json)
        var (renamed, documented, changed) = (tree, tree, tree)
        renamed["title"] = "Another title"
        let routes = tree["routes"]?.elements ?? []
        try #require(!routes.isEmpty)
        documented["routes"] = .array(
            routes.map { route in
                var route = route
                route["documentation"] = "Another comment."
                return route
            }
        )
        changed["routes"] = .array(Array(routes.dropLast()))
        let prints = try [tree, renamed, documented, changed].map {
            try BusDocument(json: $0.written()).fingerprint
        }
        #expect(prints[1] == prints[0] && prints[2] == prints[0] && prints[3] != prints[0])
    }

    @Test(.enabled(if: Script.mypy != nil, "mypy is not there, and pip cannot install it"))
    func `mypy accepts Python clients of random documents`() async throws {
        let mypy = try #require(Script.mypy)
        try await self.withFiles(.python, ending: "py") { folder, files in
            let compiled = try await Script.run(
                ["python3", "-W", "error", "-m", "py_compile"] + files,
                in: folder
            )
            #expect(compiled.status == 0, "\(compiled.output)")
            let checked = try await Script.run(
                [mypy, "--strict", "--cache-dir", "/dev/null"] + files,
                in: folder
            )
            #expect(checked.status == 0, "\(checked.output.suffix(2000))")
        }
    }

    @Test(.enabled(if: Script.pyright != nil, "pyright is not there, and pip cannot install it"))
    func `pyright accepts Python clients of random documents`() async throws {
        let pyright = try #require(Script.pyright)
        try await self.withFiles(.python, ending: "py") { folder, files in
            let checked = try await Script.run([pyright] + files, in: folder)
            #expect(checked.status == 0, "\(checked.output.suffix(2000))")
        }
    }

    @Test(.enabled(if: Script.has("tsc"), "tsc is not there: install node-typescript"))
    func `tsc accepts TypeScript clients of random documents`() async throws {
        try await self.withFiles(.typeScript, ending: "ts") { folder, files in
            let checked = try await Script.run(Script.tsc + ["--noEmit"] + files, in: folder)
            #expect(checked.status == 0, "\(checked.output.suffix(2000))")
        }
    }

    private static let modules = "\(Script.root)/.build/debug/Modules"

    @Test(
        .enabled(
            if: FileManager.default.fileExists(atPath: Self.modules),
            "the libraries are not in .build/debug: run swift build --enable-all-traits"
        )
    )
    func `the compiler accepts Swift clients of random documents`() async throws {
        try await self.withFiles(.swift, ending: "swift") { folder, files in
            let checked = try await Script.run(
                [
                    "swiftc", "-typecheck", "-swift-version", "6", "-warnings-as-errors", "-module-name",
                    "Clients",
                    "-enable-upcoming-feature", "InternalImportsByDefault", "-enable-upcoming-feature",
                    "MemberImportVisibility", "-enable-upcoming-feature", "ExistentialAny", "-I",
                    Self.modules,
                    "-Xcc", "-fmodule-map-file=\(Script.root)/Sources/CLibUV/module.modulemap",
                ] + files,
                in: folder
            )
            #expect(checked.status == 0, "\(checked.output.suffix(3000))")
        }
    }
}
