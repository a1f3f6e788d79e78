#if HTTP && Macros
import Foundation
import Testing
import Waybill
import WaybillClients
import WaybillDocuments
import WaybillJSON
import WaybillTestSupport

/// A client of one version against a server of the next version.
@Suite(.timeLimit(.minutes(10)))
struct CompatibilityTests {
    enum First {
        struct Item: Codable, Sendable {
            let id: Int
            let name: String
        }

        @Module("app://items")
        actor ItemsModule {
            @Route func find(id: Int) -> Item { Item(id: id, name: "kettle") }

            @Route("/shelf/:name") func shelf(name: String) -> [Item] { [Item(id: 1, name: name)] }
        }
    }

    /// The next version of ``First``, with more properties, parameters and routes.
    enum Next {
        enum Size: String, Codable, CaseIterable { case small, large }

        struct Item: Codable, Sendable {
            let id: Int
            let name: String
            var size: Size? = .large
        }

        @Module("app://items")
        actor ItemsModule {
            @Route func find(id: Int, size: Size?) -> Item { Item(id: id, name: "kettle", size: size) }

            @Route("/shelf/:name") func shelf(name: String, limit: Int = 9) -> [Item] {
                [Item(id: limit, name: name)]
            }

            @Route func more() -> Int { 1 }
        }
    }

    @Test(arguments: ClientCallTests.Language.available)
    func `a client works with the next version of a program, and reports the difference`(
        language: ClientCallTests.Language
    ) async throws {
        let old = MessageBus(configuration: .quiet)
        try await old.install { First.ItemsModule() }
        try old.expose("app://items/**")
        let document = old.document(of: .exposed)
        await old.shutDown()
        try await withFolder { folder in
            let server = ProbeServer(bus: MessageBus(configuration: .quiet), folder: folder)
            try await server.bus.install { Next.ItemsModule() }
            try server.bus.expose("app://items/**")
            let changes = server.bus.document(of: .exposed).changes(since: document)
            #expect(!changes.isEmpty && !changes.contains(where: \.isBreaking), "\(changes)")
            for (one, name) in [(ClientLanguage.python, "probe.py"), (.typeScript, "probe.ts")] {
                let text = document.client(in: one, named: "Probe")
                try text.write(toFile: "\(folder)/\(name)", atomically: true, encoding: .utf8)
            }
            let command = try await language.command("next_version", in: folder)
            try await server.withSocket { _ in
                let run = try await Script.run(command + [server.socket], in: folder)
                #expect(run.status == 0 && run.output == "ok\n", "\(run.report)")
            }
            await server.bus.shutDown()
        }
    }

    /// The client of the extended document has every route and every class of the client before.
    @Test(.enabled(if: Script.mypy != nil, "mypy is not there, and pip cannot install it"))
    func `a client of an extended document has every route and class of the previous client`() async throws {
        let mypy = try #require(Script.mypy)
        let count = ProcessInfo.processInfo.environment["WAYBILL_SOAK"] == "1" ? 500 : Scale.of(20)
        try await withFolder { folder in
            var files: [String] = []
            for seed in 0..<UInt64(count) {
                let old = try RandomDocument.make(seed: seed)
                let new = try Self.extended(old)
                guard !new.changes(since: old).contains(where: \.isBreaking) else {
                    Issue.record("the extended document breaks callers: \(new.changes(since: old))")
                    continue
                }
                for (name, document) in [("old_\(seed)", old), ("new_\(seed)", new)] {
                    let text = document.client(in: .python, named: "Random")
                    try text.write(toFile: "\(folder)/\(name).py", atomically: true, encoding: .utf8)
                }
                // The old client's calls, which the new client's types have to accept.
                let check = """
                    import new_\(seed)
                    import old_\(seed)

                    def check(client: new_\(seed).RandomClient, before: old_\(seed).RandomClient) -> None:
                        assert set(dir(before)) <= set(dir(client))


                    for name, kind in vars(old_\(seed)).items():
                        if isinstance(kind, type) and name.endswith("Routes"):
                            assert set(vars(kind)) <= set(vars(getattr(new_\(seed), name)))
                    """
                try check.write(toFile: "\(folder)/check_\(seed).py", atomically: true, encoding: .utf8)
                files.append("check_\(seed).py")
                let run = try await Script.run(["python3", "check_\(seed).py"], in: folder)
                #expect(run.status == 0, "\(run.output)")
            }
            let checked = try await Script.run(
                [mypy, "--strict", "--cache-dir", "/dev/null"] + files,
                in: folder
            )
            #expect(checked.status == 0, "\(checked.report)")
        }
    }

    /// Returns a document with one more optional parameter in each route, and one more property in each
    /// reply.
    private static func extended(_ document: BusDocument) throws -> BusDocument {
        var tree = try JSONTree(json: document.json)
        let routes = (tree["routes"]?.elements ?? []).map { route in
            var route = route
            let parameter: JSONTree = [
                "name": "added one", "type": "Int", "required": false,
                "schema": ["type": ["string", "null"]],
            ]
            route["parameters"] = .array((route["parameters"]?.elements ?? []) + [parameter])
            return route
        }
        tree["routes"] = .array(routes)
        return try BusDocument(json: tree.written())
    }
}
#endif
