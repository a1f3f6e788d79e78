#if Tool && NATS
import ArgumentParser
import Foundation
import Testing
import Waybill
import WaybillNATS
import WaybillServe
import WaybillNATSTestSupport
import WaybillTestSupport

@testable import WaybillTool

/// The commands that call a program, with the nodes of a cluster in place of the program.
@Suite(.timeLimit(.minutes(1)))
struct ClusterPeerTests {
    /// Runs a closure with a bus that is a node of the realm `shop`, and with the arguments that find it.
    private static func withNode(_ body: (MessageBus, [String]) async throws -> Void) async throws {
        let server = try await NATSServer()
        defer { server.stop() }
        let bus = MessageBus(configuration: .quiet)
        var configuration = ClusterNode.Configuration()
        configuration.logger = MessageBus.Configuration.quiet.logger
        let transport = NATSTransport(servers: [server.url], realm: "shop")
        let node = bus.join(transport, configuration: configuration)
        try await node.start()
        let running = Task { try await node.run() }
        let result: Result<Void, any Error>
        do { result = .success(try await body(bus, ["--nats", server.url, "--realm", "shop"])) } catch {
            result = .failure(error)
        }
        node.beginGracefulShutdown()
        try await running.value
        await bus.shutDown()
        try result.get()
    }

    @Test func `a call by the cluster has parameters, headers and answers, and returns JSON`() async throws {
        try await Self.withNode { bus, arguments in
            try bus.share("app://pay/**")
            try bus.register("app://pay/:order") { message async throws -> [String] in
                [
                    try message.argument("order"), try message.argument("by"), message.headers["lang"] ?? "",
                    try await message.reply(with: ["total": 7], expecting: String.self),
                ]
            }
            let command = try CallCommand.parse(
                [
                    "app://pay/4", "--json", #"{"by": "card"}"#, "--header", "lang=de", "--answer",
                    #""confirm""#,
                ] + arguments
            )
            try await command.peer.withPeer { peer in
                let reply = try await peer.request(command.url, command.options())
                #expect(reply == #"["4","card","de","confirm"]"#)
            }
        }
    }

    @Test func `a call waits for a route that a node shares after the command has joined`() async throws {
        try await Self.withNode { bus, arguments in
            let command = try CallCommand.parse(["app://late", "--deadline", "30s"] + arguments)
            try await command.peer.withPeer { peer in
                let sharing = Task {
                    try await Task.sleep(for: .milliseconds(100))
                    try bus.register("app://late") { _ in 7 }
                    try bus.share("app://late")
                }
                #expect(try await peer.request(command.url, command.options()) == "7")
                try await sharing.value
            }
        }
    }

    @Test func `the call command's exit status is the kind of the failure`() async throws {
        try await Self.withNode { bus, arguments in
            let gate = Gate()
            try bus.share("app://catalog/**")
            try bus.register("app://catalog/product") { _ in 1 }
            try bus.register("app://catalog/slow") { _ async in await gate.wait() }
            // The slow handler must have begun before the deadline. A call without a route waits until the
            // deadline.
            for (url, limit, status) in [
                ("app://catalog/prodct", "50ms", 1), ("app://secret", "50ms", 1),
                ("app://catalog/slow", "2s", 124),
            ] {
                let command = try CallCommand.parse([url, "--deadline", limit] + arguments)
                let exit = await #expect(throws: ExitCode.self) { try await command.run() }
                #expect(exit?.rawValue == Int32(status), "\(url)")
            }
            gate.open()
        }
        let nothing = try CallCommand.parse(["app://a", "--nats", "nats://127.0.0.1:1", "--realm", "shop"])
        let exit = await #expect(throws: ExitCode.self) { try await nothing.run() }
        #expect(exit?.rawValue == RequestFailure.unavailable)
    }

    @Test func `the watch command receives a node's publications, whatever the node shares`() async throws {
        try await Self.withNode { bus, arguments in
            let seen = Journal<String>()
            let command = try WatchCommand.parse(["app://prices/:symbol"] + arguments)
            try await command.peer.withPeer { peer in
                try await peer.watch(command.patterns) { seen.add($0 ?? "the end") }
                // The node learns a moment later that a command watches it.
                let hasCome = await eventually {
                    _ = try? await bus.publish("app://prices/kettle?price=4")
                    return !seen.entries.isEmpty
                }
                #expect(hasCome)
            }
            let text = try #require(seen.entries.first)
            let members = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
            #expect(members?["url"] as? String == "app://prices/kettle?price=4")
            #expect((members?["parameters"] as? [String: String])?["symbol"] == "kettle")
        }
    }

    @Test(arguments: [
        [], ["--connect", "a", "--nats", "b", "--realm", "c"], ["--nats", "nats://127.0.0.1"],
        ["--realm", "shop"],
    ])
    func `a command needs a server or a cluster, and not both`(arguments: [String]) {
        #expect(throws: (any Error).self) { try CallCommand.parse(["app://a"] + arguments) }
    }

    @Test(arguments: [
        (RPCRequestError(.noRoute, "none"), false, "no other node is in the realm shop"),
        (RPCRequestError(.noRoute, "none"), true, "waybill nodes"),
        (RPCRequestError(.unreachable, "none"), false, "check that a NATS server runs"),
        (RPCRequestError(.refused, "none"), false, "--credentials"),
    ])
    func `an error of a cluster call suggests where to look`(
        error: RPCRequestError,
        hasNodes: Bool,
        advice: String
    ) {
        #expect(RequestFailure(error, .cluster(realm: "shop", hasNodes: hasNodes)).line.contains(advice))
    }
}
#endif
