import Testing
import Waybill
import WaybillNATSTestSupport
import WaybillRouting
import WaybillTestSupport

@testable import WaybillNATS

/// A value that cannot be sent between nodes is reported to the code that awaits it.
@Suite(.timeLimit(.minutes(1)))
struct UntransferableTests {
    /// Arrays in arrays.
    private static func nested(_ depth: Int) -> any Sendable {
        (1..<depth).reduce([] as [any Sendable]) { inner, _ in [inner] }
    }

    private struct Loud: Error, CustomStringConvertible {
        var description: String { UntransferableTests.large }
    }

    /// An error whose details are as large as a message may be.
    private struct Bulky: ModuleError {
        var details = UntransferableTests.large
        var code: String { "bulky" }
        var message: String { "the details are large" }
    }

    private static func codes(of error: RoutingError?) -> String {
        guard let error else { return "no error" }
        return "\(error.code), since \((error.cause as? RoutingError).map { "\($0.code)" } ?? "")"
    }

    /// A value that is twice as deep in JSON.
    private struct Tree: Codable, Sendable {
        var inner: [Tree] = []

        init(depth: Int) {
            for _ in 1..<depth {
                let outer = self
                self.inner = [outer]
            }
        }
    }

    private static let marks = "e" + String(repeating: "\u{301}", count: 40)
    private static let large = String(repeating: "x", count: 1 << 20)

    private static func withNodes(
        publicationFormat: ClusterNode.PublicationFormat = .jsonRPC,
        _ body: (_ near: TestCluster.Node, _ far: TestCluster.Node, TestCluster) async throws -> Void
    ) async throws {
        try await withCluster(.memory) { cluster in
            let far = try await cluster.node("far") { bus in
                try bus.share("app://far/**", for: .all)
                try bus.register("app://far/take") { _ in }
                try bus.register("app://far/give/deep") { _ in Tree(depth: 35) }
                try bus.register("app://far/give/large") { _ in Self.large }
                try bus.register("app://far/tell/:kind") { message -> String in
                    let kind: String = try message.argument("kind")
                    let error = await failure {
                        switch kind {
                        case "deep": try await message.reply(with: Tree(depth: 35), expecting: Int.self)
                        case "large": try await message.reply(with: Self.large, expecting: Int.self)
                        default: try await message.reply(with: 1, expecting: Int.self)
                        }
                    }
                    return Self.codes(of: error)
                }
                try bus.register("app://far/fail") { _ in throw Loud() }
                try bus.register("app://far/declare") { _ in throw Bulky() }
                try bus.register("app://far/marks") { _ in throw RoutingError.refused(Self.marks) }
                try bus.subscribe("app://far/news") { _ in }
            }
            let near = try await cluster.node("near", publicationFormat: publicationFormat)
            #expect(await near.knows("app://far/fail"))
            try await body(near, far, cluster)
            #expect(await near.balances())
            #expect(await far.balances())
        }
    }

    /// Notes the codes of a node's dead letters until the task is cancelled.
    private static func deadLetterCodes(of node: TestCluster.Node) -> (Journal<String>, Task<Void, Never>) {
        let letters = Journal<String>()
        // Create the sequence here, because the task may begin after the message has failed.
        let failed = node.bus.deadLetters
        let watch = Task {
            for await letter in failed { letters.add("\(letter.error.code)") }
        }
        return (letters, watch)
    }

    @Test func `a message nested deeper than nodes can read is not sent`() async throws {
        try await Self.withNodes { near, _, _ in
            for depth in [61, 62, 63, 100, 2000] {
                let error = await failure {
                    try await near.bus.route("app://far/take", parameters: ["v": Self.nested(depth)])
                }
                #expect(error?.code == (depth < 63 ? nil : .notTransferable), "\(depth)")
            }
        }
    }

    @Test(arguments: [ClusterNode.PublicationFormat.jsonRPC, .structuredEvents, .binaryEvents])
    func `a publication nested deeper than nodes can read is a dead letter`(
        format: ClusterNode.PublicationFormat
    ) async throws {
        try await Self.withNodes(publicationFormat: format) { near, far, _ in
            let (letters, watch) = Self.deadLetterCodes(of: near)
            defer { watch.cancel() }
            try await near.bus.publish("app://far/news", parameters: ["v": Self.nested(60)])
            try await near.bus.publish("app://far/news", parameters: ["v": Self.nested(70)])
            #expect(await letters.comes(to: "notTransferable"))
            #expect(letters.count == 1 && near.node.statistics.published == 1)
            #expect(far.node.statistics.malformed == 0)
        }
    }

    @Test(arguments: ["deep", "large"])
    func `a reply or a progress reply that no node can read fails`(kind: String) async throws {
        try await Self.withNodes { near, _, _ in
            let error = await failure {
                try await near.bus.route("app://far/give/\(kind)")
            }
            #expect(error?.code == .notTransferable)
            let told: String = try await near.bus.route("app://far/tell/\(kind)") {
                (_: Int) in 1
            }
            #expect(told == "refused, since notTransferable")
        }
    }

    @Test func `an error whose text no node can read fails only its own call`() async throws {
        try await Self.withNodes { near, far, _ in
            // The node joins the answers of calls that it handles at the same time.
            let codes = await withTaskGroup(of: RoutingError.Code?.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        let url = number == 30 ? "app://far/marks" : "app://far/take"
                        return await failure { try await near.bus.route(url, timeout: .seconds(20)) }?.code
                    }
                }
                return await group.reduce(into: [] as [RoutingError.Code]) { $0 += [$1].compactMap(\.self) }
            }
            #expect(codes == [.notTransferable])
            #expect(near.node.statistics.malformed == 0)
        }
    }

    @Test(arguments: [ClusterNode.PublicationFormat.jsonRPC, .structuredEvents, .binaryEvents])
    func `a publication with a text that no node can read is a dead letter`(
        format: ClusterNode.PublicationFormat
    ) async throws {
        try await Self.withNodes(publicationFormat: format) { near, far, _ in
            let (letters, watch) = Self.deadLetterCodes(of: near)
            defer { watch.cancel() }
            try await near.bus.publish("app://far/news", parameters: ["v": Self.marks])
            #expect(await letters.comes(to: "notTransferable"))
            let encoded = String(repeating: "%CC%81", count: 40)
            for text in [Self.marks, encoded] { try await near.bus.publish("app://far/news?v=\(text)") }
            #expect(await eventually { letters.entries.count { $0 == "invalidURL" } == 2 })
            #expect(near.node.statistics.published == 0 && far.node.statistics.malformed == 0)
        }
    }

    @Test func `a call whose value cannot reach the return URL fails`() async throws {
        try await Self.withNodes { near, _, _ in
            let heard = Tally()
            try near.bus.register("app://own/take") { _ in heard.add() }
            let error = await failure {
                try await near.bus.route("app://far/give/large#app://own/take")
            }
            #expect(error?.code == .notTransferable && heard.count == 0)
        }
    }

    @Test func `a long error from another node is shortened`() async throws {
        try await Self.withNodes { near, _, _ in
            let error = await failure { try await near.bus.route("app://far/fail") }
            #expect(error?.code == .handlerFailed)
            let cause = error?.cause.map { "\($0)" } ?? ""
            #expect(cause.utf8.count < 5000 && cause.hasSuffix("x… (1,048,576 bytes)"))
        }
    }

    @Test func `a declared error that is too large for the server fails with notTransferable`() async throws {
        try await Self.withNodes { near, _, _ in
            let error = await failure {
                try await near.bus.route("app://far/declare", timeout: .seconds(10))
            }
            #expect(error?.code == .notTransferable)
        }
    }

    @Test func `an answer that cannot be sent fails the handler's progress reply`() async throws {
        try await Self.withNodes { near, far, _ in
            try far.bus.register("app://far/ask") { message -> String in
                let error = await failure { try await message.reply(with: 1, expecting: String.self) }
                return Self.codes(of: error)
            }
            #expect(await near.knows("app://far/ask"))
            let codes: String = try await near.bus.route("app://far/ask") { (_: Int) in Self.large }
            #expect(codes == "refused, since notTransferable")
        }
    }

    @Test func `an answer to a slow connection fails, and small answers are sent`() async throws {
        try await Self.withNodes { near, far, cluster in
            let (started, end) = (Gate(), Gate())
            try far.bus.register("app://far/slow") { _ -> String in
                started.open()
                await end.wait()
                return String(repeating: "x", count: 100_000)
            }
            #expect(await near.knows("app://far/slow"))
            let call = Task { await failure { try await near.bus.route("app://far/slow", as: String.self) } }
            await started.wait()
            let client = try #require(far.transport).client
            cluster.memory.fill(client, true)
            end.open()
            #expect(await call.value?.code == .mailboxFull)
            // A progress reply fails in the same way, and the handler receives the error.
            try far.bus.register("app://far/report") { message -> String in
                let text = String(repeating: "x", count: 100_000)
                return Self.codes(
                    of: await failure { try await message.reply(with: text, expecting: Int.self) }
                )
            }
            #expect(await near.knows("app://far/report"))
            let codes: String = try await near.bus.route("app://far/report") { (_: String) in 1 }
            #expect(codes == "refused, since mailboxFull")
            // A value for a return URL fails too, and its handler is cancelled with the call.
            try near.bus.register("app://own") { _ in }
            let over = Gate()
            try far.bus.register("app://far/return") { message in
                message.sendReturn(String(repeating: "x", count: 100_000))
                while await message.reply(with: 1) {}
                over.open()
            }
            #expect(await near.knows("app://far/return"))
            let error = await failure {
                try await near.bus.route("app://far/return#app://own") { (_: Int) in }
            }
            #expect(error?.code == .mailboxFull)
            await over.wait()
            cluster.memory.fill(client, false)
            try await near.bus.route("app://far/take")
        }
    }

    @Test func `a client outside of the cluster cannot subscribe by a request`() async throws {
        try await Self.withNodes { _, far, cluster in
            let answers = Journal<String>()
            cluster.memory.observe { subject, _, payload in
                if subject == "_INBOX.1" { answers.add(String(decoding: payload, as: UTF8.self)) }
            }
            let request =
                #"{"jsonrpc":"2.0","id":1,"method":"$/subscribe","params":{"pattern":"app://far/news"}}"#
            let subject = Subjects(realm: "test").node(far.node.core.id)
            cluster.memory.publish(subject, "_INBOX.1", Array(request.utf8), from: 0)
            #expect(await eventually { answers.entries.first?.contains("refused") == true })
            // The client answers progress replies, and gives no time limit.
            let told =
                #"{"jsonrpc":"2.0","id":2,"method":"app://far/tell/small","params":{"#
                + #""$waybill":{"progress":true,"answers":true}}}"#
            cluster.memory.publish(subject, "_INBOX.1", Array(told.utf8), from: 0)
            #expect(await eventually { answers.entries.contains { $0.contains(#""id":2,"result""#) } })
            cluster.memory.observe(nil)
        }
    }
}
