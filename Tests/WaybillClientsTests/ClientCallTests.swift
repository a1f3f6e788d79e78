#if HTTP && Macros
import Foundation
import Testing
import Waybill
import WaybillClients
import WaybillDocuments
import WaybillJSON
import WaybillTestSupport

/// Generated clients in Python and in Node against a server: values, progress, errors, cancellation and
/// subscriptions.
@Suite(.timeLimit(.minutes(30)))
struct ClientCallTests {
    /// The number of random values for each transport.
    private static let count =
        ProcessInfo.processInfo.environment["WAYBILL_SOAK"] == "1" ? 10_000 : Scale.of(200)

    enum Language: CaseIterable {
        case python, node

        /// The command that runs a script of `Tests/Clients` in a folder with a generated client.
        func command(_ script: String, in folder: String) async throws -> [String] {
            let source = "\(Script.root)/Tests/Clients/\(script)"
            switch self {
            case .python:
                try FileManager.default.copyItem(atPath: "\(source).py", toPath: "\(folder)/\(script).py")
                return ["python3", "-X", "dev", "\(script).py"]
            case .node:
                try FileManager.default.copyItem(atPath: "\(source).ts", toPath: "\(folder)/\(script).ts")
                let compiled = try await Script.run(Script.tsc + ["probe.ts", "\(script).ts"], in: folder)
                try #require(compiled.status == 0, "\(compiled.output)")
                try #"{"type": "module"}"#.write(
                    toFile: "\(folder)/package.json",
                    atomically: true,
                    encoding: .utf8
                )
                return ["node", "--expose-gc", "\(script).js"]
            }
        }

        static let available = Self.allCases.filter { language in
            language == .python || Script.has("node") && Script.has("tsc")
        }
    }

    @Test(arguments: Language.available)
    func `a generated client passes values unchanged over each transport`(language: Language) async throws {
        try await ProbeServer.run { server in
            var generator = SeededGenerator(seed: 7)
            let values = (0..<Self.count).map { _ in Everything.random(using: &generator) }
            let lines = try values.map { String(decoding: try JSONText(encoding: $0).slice, as: UTF8.self) }
            try lines.joined(separator: "\n").write(
                toFile: "\(server.folder)/values",
                atomically: true,
                encoding: .utf8
            )
            let command = try await language.command("generated", in: server.folder)
            try await server.withAddresses { addresses in
                for (index, address) in addresses.enumerated() {
                    let run = try await Script.run(command + ["values", address], in: server.folder)
                    #expect(run.status == 0 && run.output == "ok\n", "\(address): \(run.report)")
                    let received = server.received.entries.dropFirst(index * values.count)
                    #expect(received.count == values.count)
                    for (sent, arrived) in zip(values, received) where sent != arrived {
                        Issue.record("\(address): \(sent) arrived as \(arrived)")
                        break
                    }
                }
            }
        }
    }

    @Test(
        .enabled(
            if: Script.pythonWithHypothesis != nil,
            "hypothesis is not there, and pip cannot install it"
        )
    )
    func `hypothesis finds no value that a Python client changes`() async throws {
        let python = try #require(Script.pythonWithHypothesis)
        try await ProbeServer.run { server in
            let script = "\(Script.root)/Tests/Clients/round_trips.py"
            try FileManager.default.copyItem(atPath: script, toPath: "\(server.folder)/round_trips.py")
            try await server.withAddresses { addresses in
                for (index, address) in addresses.enumerated() {
                    let command = [python, "-X", "dev", "round_trips.py", address, "\(Self.count)"]
                    let run = try await Script.run(command, in: server.folder)
                    #expect(run.status == 0, "\(address): \(run.report)")
                    #expect(server.received.entries.count >= (index + 1) * Self.count)
                }
            }
        }
    }

    @Test(arguments: Language.available)
    func `a generated client has parameters, progress, errors, deadlines and cancellation`(
        language: Language
    ) async throws {
        try await ProbeServer.run { server in
            let command = try await language.command("generated", in: server.folder)
            try await server.withAddresses { addresses in
                for (index, address) in addresses.enumerated() {
                    let run = try await Script.run(command + ["calls", address], in: server.folder)
                    #expect(run.status == 0 && run.output == "ok\n", "\(address): \(run.report)")
                    let isKept = await eventually {
                        server.notes.entries.count { $0 == "kept r 2 left []" } == index + 1
                    }
                    #expect(isKept, "\(address): \(server.notes.entries)")
                    // The deadline, the client's cancellation and the end of a client end the handler.
                    let isCancelled = await eventually {
                        server.notes.entries.count { $0 == "cancelled" } == 3 * (index + 1)
                    }
                    #expect(isCancelled, "\(address): \(server.notes.entries)")
                }
            }
        }
    }

    @Test func `a Python client works in one event loop after another`() async throws {
        try await ProbeServer.run { server in
            let command = try await Language.python.command("generated", in: server.folder)
            try await server.withAddresses { addresses in
                for address in addresses {
                    let run = try await Script.run(command + ["loops", address], in: server.folder)
                    // Python also prints that a task of a closed loop has not ended.
                    #expect(run.status == 0 && run.output.contains("ok\n"), "\(address): \(run.report)")
                }
            }
        }
    }

    @Test(.enabled(if: Script.mypy != nil, "mypy is not there, and pip cannot install it"))
    func `mypy rejects an answer of another type than the declared one`() async throws {
        let check = """
            from probe import Bid, Offer, ProbeClient

            async def check(client: ProbeClient, bid: Bid) -> None:
                async for step in client.probe.bargain(prices=[]).progress():
                    offer: Offer = step.value
                    step.answer(bid)
                    step.answer(offer)
            """
        let mypy = try #require(Script.mypy)
        try await self.expectRejection(
            of: check,
            in: "check.py",
            by: [mypy, "--strict", "check.py"],
            line: 7
        )
    }

    @Test(.enabled(if: Script.has("tsc"), "tsc is not there: install node-typescript"))
    func `tsc rejects an answer of another type than the declared one`() async throws {
        let check = """
            import { type Bid, type Offer, ProbeClient } from "./probe.js";
            export async function check(client: ProbeClient, bid: Bid): Promise<void> {
              for await (const step of client.probe.bargain({}).progress()) {
                const offer: Offer = step.value;
                step.answer(bid);
                console.log(offer.side);
                step.answer(7);
              }
            }
            """
        let command = Script.tsc + ["--noEmit", "probe.ts", "check.ts"]
        try await self.expectRejection(of: check, in: "check.ts", by: command, line: 7)
    }

    /// Expects exactly one error of a type checker, in a line of a file next to the generated client.
    private func expectRejection(
        of text: String,
        in file: String,
        by command: [String],
        line: Int
    ) async throws {
        try await ProbeServer.run { server in
            try text.write(toFile: "\(server.folder)/\(file)", atomically: true, encoding: .utf8)
            let run = try await Script.run(command, in: server.folder)
            let errors = run.output.split(separator: "\n").filter {
                $0.contains("error") && $0.hasPrefix(file)
            }
            let isThere = errors.first.map {
                $0.hasPrefix("\(file):\(line):") || $0.hasPrefix("\(file)(\(line),")
            }
            #expect(errors.count == 1 && isThere == true, "\(run.report)")
        }
    }

    @Test(arguments: Language.available)
    func `a generated client does not grow with its calls`(language: Language) async throws {
        let count = ProcessInfo.processInfo.environment["WAYBILL_SOAK"] == "1" ? 100_000 : Scale.of(2000)
        try await ProbeServer.run { server in
            let command = try await language.command("generated", in: server.folder)
            try await server.withAddresses { addresses in
                for address in addresses {
                    let arguments = ["growth", address, "\(count)"]
                    let run = try await Script.run(command + arguments, in: server.folder)
                    // On a slow machine, asyncio also prints that a call has taken long.
                    #expect(run.status == 0, "\(address): \(run.report)")
                }
            }
        }
    }

    @Test(arguments: Language.available)
    func `a subscription continues after the server has restarted`(language: Language) async throws {
        try await ProbeServer.run { server in
            let command = try await language.command("generated", in: server.folder)
            let socket = server.socket
            async let run = Script.run(command + ["subscribe", socket], in: server.folder)
            for topic in ["first", "second"] {
                try await server.withSocket { _ in
                    // The client calls the server for each message, over the same connection.
                    let end = ContinuousClock.now + .seconds(20)
                    while ContinuousClock.now < end,
                        !server.notes.entries.contains(where: { $0.hasPrefix(topic) })
                    {
                        _ = try await server.bus.publish("app://news/\(topic)", parameters: ["text": "größe"])
                        try await Task.sleep(for: .milliseconds(20))
                    }
                }
            }
            let ended = try await run
            #expect(ended.status == 0 && ended.output == "ok\n", "\(ended.report)")
            #expect(server.notes.entries.contains("first größe"))
            #expect(server.notes.entries.contains("second größe"))
        }
    }

    @Test(arguments: Language.available)
    func `a generated client survives servers that break the protocol`(language: Language) async throws {
        try await ProbeServer.run { server in
            let command = try await language.command("generated", in: server.folder)
            let servers = ["python3", "\(Script.root)/Tests/Clients/hostile.py"]
            let run = try await Script.run(servers + command, in: server.folder)
            #expect(run.status == 0 && run.output == "ok\n", "\(run.report)")
        }
    }

    @Test(arguments: Language.available, Break.allCases)
    func `a subscription over HTTP misses no message when its connection breaks`(
        language: Language,
        breaking: Break
    ) async throws {
        try await ProbeServer.run { server in
            let command = try await language.command("generated", in: server.folder)
            // A client waits for three heartbeats.
            try await server.withGateway(heartbeat: .milliseconds(200)) { port in
                let script = "\(Script.root)/Tests/Clients/cutting_proxy.py"
                let proxy = ["python3", script, breaking.rawValue, "\(port)"]
                let run = try await Script.run(proxy + command + ["resume"], in: server.folder)
                #expect(run.status == 0 && run.output == "ok\n", "\(run.report)")
            }
        }
    }
}
#endif
