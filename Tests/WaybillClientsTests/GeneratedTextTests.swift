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
        let document = try Self.document(withWordsOf: language)
        try await withFolder { folder in
            let text = document.client(in: language, named: "Words")
            try text.write(toFile: "\(folder)/words.\(ending)", atomically: true, encoding: .utf8)
            try await body(folder, ["words.\(ending)"])
        }
    }

    /// Returns a document whose schemas have the names of all words of a client.
    private static func document(withWordsOf language: ClientLanguage) throws -> BusDocument {
        let client = try Self.chain(0, last: "A0").client(in: language, named: "Words")
        var schemas: [String: JSONTree] = [:]
        for word in client.matches(of: /[A-Za-z]\w*/).map({ String($0.output) }) {
            schemas[word] = ["type": "object", "properties": ["x": ["type": "integer"]], "required": ["x"]]
        }
        let routes = schemas.keys.sorted().enumerated().map { number, word -> JSONTree in
            [
                "pattern": .string("app://a\(number)"), "parameters": [], "reply": "T", "exposed": ["calls"],
                "replySchema": ["$ref": .string("#/components/schemas/\(word)")],
                "addresses": [
                    ["scheme": "app", "segments": [.string("a\(number)")], "exact": true, "parameters": []]
                ],
            ]
        }
        let tree: JSONTree = [
            "waybill": 1, "title": "Words", "version": "1", "routes": .array(routes),
            "components": ["schemas": .object(schemas)],
        ]
        return try BusDocument(json: tree.written())
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

    private static let checksOnce = ConditionTrait.disabled(
        if: Scale.isSanitized,
        "the checkers of other languages are not sanitized, and have run without a sanitizer"
    )

    @Test(Self.checksOnce, .enabled(if: Script.mypy != nil, "mypy is not there, and pip cannot install it"))
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
            #expect(checked.status == 0, "\(checked.report)")
        }
    }

    @Test(
        Self.checksOnce,
        .enabled(if: Script.pyright != nil, "pyright is not there, and pip cannot install it")
    )
    func `pyright accepts Python clients of random documents`() async throws {
        let pyright = try #require(Script.pyright)
        try await self.withFiles(.python, ending: "py") { folder, files in
            let checked = try await Script.run([pyright] + files, in: folder)
            #expect(checked.status == 0, "\(checked.report)")
        }
    }

    @Test(Self.checksOnce, .enabled(if: Script.has("tsc"), "tsc is not there: install node-typescript"))
    func `tsc accepts TypeScript clients of random documents`() async throws {
        try await self.withFiles(.typeScript, ending: "ts") { folder, files in
            let checked = try await Script.run(Script.tsc + ["--noEmit"] + files, in: folder)
            #expect(checked.status == 0, "\(checked.report)")
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
            #expect(checked.status == 0, "\(checked.report)")
        }
    }

    /// A document whose texts would end a comment or a literal.
    ///
    /// U+0600 combines with the character after it, so a search for characters does not find that character.
    private static func hostile() throws -> BusDocument {
        let words = "one \u{600}\"\"\"\nraise SystemExit(1)\n\u{600}\\ \u{600}*/ two"
        let route: JSONTree = [
            "pattern": "app://a", "parameters": [], "reply": "T", "module": "ShopModule", "action": "go",
            "replySchema": ["$ref": "#/components/schemas/T"], "exposed": ["calls"],
            "documentation": .string(words),
            "failures": [["type": "E", "code": "c", "message": .string(words), "status": .number("1e300")]],
            "addresses": [
                [
                    "scheme": "app", "exact": true, "parameters": [],
                    "segments": ["a\"; raise SystemExit(2) #`${b}\\(c){d}"],
                ]
            ],
        ]
        let type: JSONTree = [
            "type": "object", "description": .string(words), "properties": ["x": ["type": "string"]],
        ]
        let tree: JSONTree = [
            "waybill": 1, "title": "Shop", "version": "1", "routes": [route],
            "components": ["schemas": ["T": type]],
        ]
        return try BusDocument(json: tree.written())
    }

    @Test func `the texts of a document cannot end the comments and literals of a client`() async throws {
        let document = try Self.hostile()
        let python = document.client(in: .python, named: "Shop")
        try await withFolder { folder in
            try python.write(toFile: "\(folder)/shop.py", atomically: true, encoding: .utf8)
            let run = try await Script.run(["python3", "-W", "error", "-c", "import shop"], in: folder)
            #expect(run.status == 0 && run.output.isEmpty, "\(run.output)")
        }
        func contains(_ text: String, in client: String) -> Bool {
            !Array(client.utf8).ranges(of: Array(text.utf8)).isEmpty
        }
        #expect(contains(#"_url = "app://a\"; raise SystemExit(2) #`${b}\\(c){d}""#, in: python))
        let script = document.client(in: .typeScript, named: "Shop")
        #expect(!contains("\u{600}*/", in: script))
        #expect(contains(#""app://a\"; raise SystemExit(2) #`${b}\\(c){d}""#, in: script))
        let swift = document.client(in: .swift, named: "Shop")
        #expect(contains(#"let url = "app://a\"; raise SystemExit(2) #`${b}\\(c){d}""#, in: swift))
    }

    @Test func `a route without a method has the name of its decoded URL`() throws {
        let address: JSONTree = [
            "scheme": "app", "segments": ["%C3%A4pfel", "x%20y"], "exact": true, "parameters": [],
        ]
        let tree: JSONTree = [
            "waybill": 1, "title": "Shop", "version": "1", "components": ["schemas": [:]],
            "routes": [
                [
                    "pattern": "app://äpfel/x y", "parameters": [], "reply": "Int", "exposed": ["calls"],
                    "replySchema": ["type": "integer"], "addresses": [address],
                ]
            ],
        ]
        let client = try BusDocument(json: tree.written()).client(in: .python, named: "Shop")
        #expect(client.contains("def äpfel_x_y("))
    }

    @Test func `a negative number has its own name in an enumeration, and its bits in the type of a range`()
        throws
    {
        let reply: JSONTree = [
            "type": "object",
            "properties": [
                "celsius": ["type": "integer", "minimum": -273, "maximum": 100],
                "trend": ["type": "integer", "enum": [-1, 0, 1, 12]],
            ],
        ]
        let route: JSONTree = [
            "pattern": "app://a", "parameters": [], "reply": "A", "exposed": ["calls"], "replySchema": reply,
            "addresses": [["scheme": "app", "segments": ["a"], "exact": true, "parameters": []]],
        ]
        let tree: JSONTree = [
            "waybill": 1, "title": "Shop", "version": "1", "routes": [route], "components": ["schemas": [:]],
        ]
        let document = try BusDocument(json: tree.written())
        let swift = document.client(in: .swift, named: "Shop")
        #expect(swift.contains("public var celsius: Int16?"))
        let python = document.client(in: .python, named: "Shop")
        for (name, value) in [("nMinus1", -1), ("n0", 0), ("n1", 1), ("n12", 12)] {
            #expect(swift.contains("static let \(name) = Self(rawValue: \(value))"), "\(name)")
        }
        for line in ["N_MINUS_1 = -1", "N0 = 0", "N1 = 1", "N12 = 12"] {
            #expect(python.contains("    \(line)\n"), "\(line)")
        }
    }

    /// A document with schemas A0 to A`count`, each an array of objects that refer to the next schema twice.
    private static func chain(_ count: Int, last: String) throws -> BusDocument {
        var schemas: [String: JSONTree] = [:]
        for number in 0...count {
            let name = number < count ? "A\(number + 1)" : last
            let next: JSONTree = ["$ref": .string("#/components/schemas/\(name)")]
            schemas["A\(number)"] = [
                "type": "array", "items": ["type": "object", "properties": ["x": next, "y": next]],
            ]
        }
        let route: JSONTree = [
            "pattern": "app://a", "parameters": [], "reply": "A", "exposed": ["calls"],
            "replySchema": ["$ref": "#/components/schemas/A0"],
            "addresses": [["scheme": "app", "segments": ["a"], "exact": true, "parameters": []]],
        ]
        let tree: JSONTree = [
            "waybill": 1, "title": "Shop", "version": "1", "routes": [route],
            "components": ["schemas": .object(schemas)],
        ]
        return try BusDocument(json: tree.written())
    }

    @Test(arguments: ClientLanguage.allCases)
    func `schemas that contain themselves without a name, and long chains of schemas, have finite clients`(
        language: ClientLanguage
    ) throws {
        let cycle = try Self.chain(0, last: "A0").client(in: language, named: "Shop")
        #expect(cycle.contains("A0Item") && !cycle.contains("A0Item2"))
        let long = try Self.chain(40, last: "none").client(in: language, named: "Shop")
        #expect(long.utf8.count < cycle.utf8.count + 100_000)
    }
}
