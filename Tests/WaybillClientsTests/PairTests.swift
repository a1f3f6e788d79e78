import Foundation
import Testing
import WaybillClients
import WaybillDocuments
import WaybillTestSupport

/// Clients of random documents, against the servers of changed documents that `waybill diff` accepts.
///
/// `Tests/Clients/pairs.py` makes the documents, the calls and the replies, and checks what was sent.
@Suite(.timeLimit(.minutes(30)))
struct PairTests {
    /// The number of pairs of documents without a breaking change.
    private static let count =
        ProcessInfo.processInfo.environment["WAYBILL_SOAK"] == "1" ? 5000 : Scale.of(500)

    /// The number of pairs whose routes one client has.
    private static let share = 50

    @Test(
        .enabled(
            if: Script.pythonWithJSONSchema != nil,
            "jsonschema is not there, and pip cannot install it"
        )
    )
    func `a client works with each next version that has no breaking change`() async throws {
        try await withFolder { folder in
            try await Self.writePairs(to: folder)
            try await Self.check(.python, in: folder)
            if Script.has("node"), Script.has("tsc") { try await Self.check(.typeScript, in: folder) }
        }
    }

    /// Writes random pairs, and a client for the old documents of each group of pairs without a breaking change.
    private static func writePairs(to folder: String) async throws {
        let python = try #require(Script.pythonWithJSONSchema)
        let script = "\(Script.root)/Tests/Clients/pairs.py"
        let made = try await Script.run(
            [python, script, "make", "1", "\(Self.count * 5 / 2)"],
            in: folder
        )
        try #require(made.status == 0, "\(made.output)")
        let pairs = try JSONTree(json: String(contentsOfFile: "\(folder)/pairs.json", encoding: .utf8))
        var kept: [JSONTree] = []
        var group = JSONTree.object([:])
        for (index, pair) in (pairs.elements ?? []).enumerated() where kept.count < Self.count {
            let trees = try #require(pair.elements)
            let old = try BusDocument(json: trees[0].written())
            let new = try BusDocument(json: trees[1].written())
            guard !new.changes(since: old).contains(where: \.isBreaking) else { continue }
            let number = kept.count / Self.share
            kept.append([.int(number), .int(index)])
            group = kept.count % Self.share == 1 ? trees[0] : Self.merged(group, with: trees[0])
            guard kept.count % Self.share == 0 || kept.count == Self.count else { continue }
            let document = try BusDocument(json: group.written())
            for (language, ending) in [(ClientLanguage.python, "py"), (.typeScript, "ts")] {
                let text = document.client(in: language, named: "Pairs")
                let file = "\(folder)/client_\(number).\(ending)"
                try text.write(toFile: file, atomically: true, encoding: .utf8)
            }
        }
        try #require(kept.count == Self.count, "there are only \(kept.count) pairs without a breaking change")
        try JSONTree.array(kept).written().write(
            toFile: "\(folder)/kept.json",
            atomically: true,
            encoding: .utf8
        )
        let calls = try await Script.run([python, script, "calls"], in: folder)
        try #require(calls.status == 0, "\(calls.output)")
    }

    /// Returns a document with the routes and the schemas of two documents.
    private static func merged(_ document: JSONTree, with other: JSONTree) -> JSONTree {
        var merged = document
        merged["routes"] = .array((document["routes"]?.elements ?? []) + (other["routes"]?.elements ?? []))
        let schemas = [document, other].map { $0["components"]?["schemas"]?.members ?? [:] }
        merged["components"] = ["schemas": .object(schemas[0].merging(schemas[1]) { first, _ in first })]
        return merged
    }

    /// Checks the types of the calls, makes the calls, and checks what the new servers receive.
    private static func check(_ language: ClientLanguage, in folder: String) async throws {
        let python = try #require(Script.pythonWithJSONSchema)
        let script = "\(Script.root)/Tests/Clients/pairs.py"
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            $0.hasPrefix("calls_")
        }
        let run: Script
        if language == .python {
            if let mypy = Script.mypy {
                let checked = try await Script.run(
                    [mypy, "--strict", "--cache-dir", "/dev/null"] + files.filter { $0.hasSuffix(".py") },
                    in: folder
                )
                #expect(checked.status == 0, "\(checked.report)")
            }
            run = try await Script.run(["env", "PYTHONPATH=\(folder)", python, script, "run"], in: folder)
        } else {
            try FileManager.default.copyItem(
                atPath: "\(Script.root)/Tests/Clients/pairs.ts",
                toPath: "\(folder)/pairs.ts"
            )
            let checked = try await Script.run(
                Script.tsc + files.filter { $0.hasSuffix(".ts") } + ["pairs.ts"],
                in: folder
            )
            #expect(checked.status == 0, "\(checked.report)")
            try #"{"type": "module"}"#.write(
                toFile: "\(folder)/package.json",
                atomically: true,
                encoding: .utf8
            )
            run = try await Script.run(["node", "pairs.js"], in: folder)
        }
        try #require(run.status == 0, "\(run.report)")
        let name = language == .python ? "python" : "node"
        let result = try await Script.run([python, script, "check", name], in: folder)
        #expect(result.status == 0, "\(name): \(result.report)")
    }
}
