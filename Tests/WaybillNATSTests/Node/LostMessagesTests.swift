import Testing
import Waybill
import WaybillEventLoop
import WaybillNATSTestSupport
import WaybillRouting
import WaybillTestSupport

@testable import WaybillNATS

/// A node whose part a test plays, message by message.
private struct PlayedNode {
    let id = NodeID.random()
    let subjects = Subjects(realm: "test")
    /// What it is asked, and what it is told about that.
    let heard = Journal<TransportMessage>()
    private let cluster: TestCluster
    private let transport: MemoryTransport

    /// Joins a cluster with one route.
    init(in cluster: TestCluster, sharing pattern: String, knownTo near: TestCluster.Node) async throws {
        self.cluster = cluster
        self.transport = cluster.memory.transport()
        let (subjects, heard) = (self.subjects, self.heard)
        try await self.transport.open(on: near.bus.eventLoop) { event in
            guard case .message(let message) = event, !subjects.isAboutNodes(message.subject) else { return }
            heard.add(message)
        }
        let call = subjects.call(PatternShape(try RoutePattern(pattern)))
        for subject in [subjects.members(self.id), subjects.node(self.id)] {
            self.transport.subscribe(subject, queue: nil)
        }
        self.transport.subscribe(call, queue: ServiceDescription.queue)
        var hello = Announcement(.hello, of: self.id)
        hello.routes = [pattern]
        cluster.memory.publish(subjects.nodes, nil, hello.bytes, from: 0)
        #expect(await near.knows(pattern))
    }

    /// The number of the latest request.
    func request() throws -> (node: NodeID, number: Int) {
        try #require(self.heard.entries.last?.reply.flatMap { self.subjects.request(in: $0) })
    }

    /// What it says of a request.
    func message(_ method: String, _ request: (node: NodeID, number: Int)) -> TransportMessage {
        TransportMessage(
            subject: self.subjects.inbox(request.node, 0),
            reply: self.subjects.node(self.id),
            payload: Array(
                #"{"jsonrpc":"2.0","method":"\#(method)","params":{"id":\#(request.number),"value":1}}"#.utf8
            )
        )
    }

    /// The text of the latest message to it.
    var last: String { String(decoding: self.heard.entries.last?.payload ?? [], as: UTF8.self) }

    func leave() async { await self.transport.close() }
}

/// What becomes of callers and handlers when one of the messages between them does not arrive.
@Suite(.timeLimit(.minutes(1)))
struct LostMessagesTests {
    @Test
    func `a node is told that a caller has left, whenever it says that it has the request`() async throws {
        try await withCluster(.memory) { cluster in
            let near = try await cluster.node("near")
            let (loop, core) = (near.bus.eventLoop, near.node.core)
            let far = try await PlayedNode(in: cluster, sharing: "app://far/one", knownTo: near)
            // Each time as another step of the loop after the caller has left, and beside it.
            for round in 0..<Scale.of(400) {
                let caller = Task {
                    try await Probe(eventLoop: loop).run { try await near.bus.route("app://far/one") }
                }
                #expect(await eventually { far.heard.count == 2 * round + 1 })
                let claim = far.message("$/accepted", try far.request())
                @Sendable func takeClaim(after turns: Int) {
                    if turns == 0 { return core.assumeOnLoop { $0.receive(.message(claim)) } }
                    loop.execute { takeClaim(after: turns - 1) }
                }
                takeClaim(after: round % 20 + 1)
                caller.cancel()
                await #expect(throws: RoutingError.self) { try await caller.value }
                try #require(await eventually { far.heard.count == 2 * round + 2 })
                #expect(far.last.contains("$/cancelRequest"))
            }
            await far.leave()
        }
    }

    @Test func `a request that a node had when it went is not given to another one`() async throws {
        try await withCluster(.memory) { cluster in
            let near = try await cluster.node("near")
            let far = try await PlayedNode(in: cluster, sharing: "app://far/one", knownTo: near)
            let heard = Tally()
            _ = try await cluster.node("other") { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/one") { _ in heard.add() }
            }
            // Of two nodes each gets one of two requests.
            let callers = (0..<2).map { _ in
                Task { await failure { try await near.bus.route("app://far/one") { (_: Int) in 1 } } }
            }
            #expect(await eventually { far.heard.count == 1 && heard.count == 1 })
            let request = try far.request()
            await far.leave()
            cluster.memory.publish(
                far.message("$/progress", request).subject,
                far.subjects.node(far.id),
                far.message("$/progress", request).payload,
                from: 0
            )
            var errors: [RoutingError] = []
            for caller in callers { if let error = await caller.value { errors.append(error) } }
            #expect(errors.map(\.code) == [.unreachable])
            #expect(heard.count == 1)
            #expect(near.node.statistics.lost == 1)
            #expect(await near.balances())
        }
    }

    @Test func `a node that stood still learns that what it had asked is lost`() async throws {
        try await withCluster(.memory) { cluster in
            let (started, cancelled) = (Gate(), Gate())
            let near = try await cluster.node("near") { bus in
                try bus.share("app://near/**")
                try bus.register("app://near/stuck") { _ in
                    started.open()
                    await withTaskCancellationHandler {
                        await cancelled.wait()
                    } onCancel: {
                        cancelled.open()
                    }
                }
            }
            let still = try await cluster.node("still")
            #expect(await still.knows("app://near/stuck"))
            let call = Task { await failure { try await still.bus.route("app://near/stuck") } }
            await started.wait()
            let goOn = Gate()
            still.bus.eventLoop.execute { goOn.block() }
            await cancelled.wait()
            goOn.open()
            #expect(await call.value?.code == .unreachable)
            #expect(await still.balances())
            #expect(await eventually { near.node.members.contains { $0.name == "still" } })
        }
    }

    @Test func `a handler ends with the caller that has lost its answers`() async throws {
        try await withCluster(.memory) { cluster in
            let (started, cancelled) = (Gate(), Gate())
            let far = try await cluster.node("far") { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/stuck") { _ in
                    started.open()
                    await withTaskCancellationHandler {
                        await cancelled.wait()
                    } onCancel: {
                        cancelled.open()
                    }
                }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/stuck"))
            let call = Task { await failure { try await near.bus.route("app://far/stuck") } }
            await started.wait()
            try #require(near.transport).take(.overflow)
            #expect(await call.value?.code == .unreachable)
            await cancelled.wait()
            #expect(await far.balances())
        }
    }

    @Test func `what a node had that is too slow is answered, to nodes and to clients that are none`()
        async throws
    {
        try await withCluster(.memory) { cluster in
            let (started, cancelled) = (Tally(), Tally())
            let far = try await cluster.node("far") { bus in
                try bus.share("app://far/**")
                try bus.register("app://far/stuck") { _ in
                    started.add()
                    let gate = Gate()
                    await withTaskCancellationHandler {
                        await gate.wait()
                    } onCancel: {
                        cancelled.add()
                        gate.open()
                    }
                }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/stuck"))
            let answers = Journal<String>()
            cluster.memory.observe { subject, _, payload in
                if subject == "_INBOX.1" { answers.add(String(decoding: payload, as: UTF8.self)) }
            }
            let call = Task { await failure { try await near.bus.route("app://far/stuck") } }
            let request = #"{"jsonrpc":"2.0","id":1,"method":"app://far/stuck"}"#
            let subject = Subjects(realm: "test").call(PatternShape(try RoutePattern("app://far/stuck")))
            cluster.memory.publish(subject, "_INBOX.1", Array(request.utf8), from: 0)
            #expect(await eventually { started.count == 2 })
            try #require(far.transport).take(.overflow)
            #expect(await call.value?.code == .unreachable)
            #expect(await eventually { answers.entries.last?.contains("unreachable") == true })
            #expect(await eventually { cancelled.count == 2 })
            cluster.memory.observe(nil)
            #expect(await near.balances())
            #expect(await far.balances())
        }
    }

    @Test func `a node that is too slow for its requests says so to those that have sent them`() async throws
    {
        try await withCluster(.memory) { cluster in
            let near = try await cluster.node("near", heartbeat: .seconds(10))
            // It gets the request, and loses it.
            let played = try await PlayedNode(in: cluster, sharing: "app://far/one", knownTo: near)
            let call = Task { await failure { try await near.bus.route("app://far/one") } }
            #expect(await eventually { played.heard.count == 1 })
            var hello = Announcement(.hello, of: played.id)
            hello.routes = ["app://far/one"]
            cluster.memory.publish(played.subjects.nodes, nil, hello.bytes, from: 0)
            #expect(await call.value?.code == .unreachable)
            await played.leave()
            // And this is what a node says that is too slow.
            let said = Journal<String>()
            let far = try await cluster.node("far", heartbeat: .seconds(10))
            cluster.memory.observe { subject, _, payload in
                if subject == played.subjects.nodes { said.add(String(decoding: payload, as: UTF8.self)) }
            }
            try #require(far.transport).take(.overflow)
            #expect(await eventually { said.entries.contains { $0.contains(#""kind":"hello""#) } })
            cluster.memory.observe(nil)
            #expect(await near.balances())
        }
    }

    @Test func `a node that leaves gets no requests, whatever its program registers meanwhile`() async throws
    {
        try await withCluster(.memory) { cluster in
            let (started, end) = (Gate(), Gate())
            let handled = Journal<String>()
            func instance(_ name: String) async throws -> TestCluster.Node {
                try await cluster.node(name) { bus in
                    try bus.share("app://far/**")
                    try bus.register("app://far/one") { _ in handled.add(name) }
                    try bus.register("app://far/stuck/\(name)") { _ in
                        started.open()
                        await end.wait()
                    }
                }
            }
            let first = try await instance("first")
            _ = try await instance("second")
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/stuck/first"))
            #expect(await near.knows("app://far/stuck/second"))
            let call = Task { try await near.bus.route("app://far/stuck/first") }
            await started.wait()
            first.node.beginGracefulShutdown()
            #expect(await eventually { near.node.members.map(\.name) == ["second"] })
            try first.bus.register("app://far/late") { _ in }
            try await Task.sleep(for: .milliseconds(20))
            for _ in 0..<20 { try await near.bus.route("app://far/one", as: Void.self) }
            #expect(Set(handled.entries) == ["second"])
            end.open()
            _ = try await call.value
            try await first.leave()
        }
    }
}

/// What cannot cross from one node to another is said to those who wait for it.
@Suite(.timeLimit(.minutes(1)))
struct UntransferableTests {
    /// Arrays in arrays.
    private static func nested(_ depth: Int) -> any Sendable {
        (1..<depth).reduce([] as [any Sendable]) { inner, _ in [inner] }
    }

    private struct Loud: Error, CustomStringConvertible {
        var description: String { UntransferableTests.large }
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

    private static let large = String(repeating: "x", count: 1 << 20)

    private static func withNodes(
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
                try bus.subscribe("app://far/news") { _ in }
            }
            let near = try await cluster.node("near")
            #expect(await near.knows("app://far/fail"))
            try await body(near, far, cluster)
            #expect(await near.balances())
            #expect(await far.balances())
        }
    }

    @Test func `what is nested deeper than nodes read is not sent`() async throws {
        try await Self.withNodes { near, _, _ in
            for depth in [61, 62, 63, 100, 2000] {
                let error = await failure {
                    try await near.bus.route("app://far/take", parameters: ["v": Self.nested(depth)])
                }
                #expect(error?.code == (depth < 63 ? nil : .notTransferable), "\(depth)")
            }
            let letters = Journal<String>()
            let watch = Task {
                for await letter in near.bus.deadLetters { letters.add("\(letter.error.code)") }
            }
            defer { watch.cancel() }
            try await near.bus.publish("app://far/news", parameters: ["v": Self.nested(70)])
            #expect(await letters.comes(to: "notTransferable"))
        }
    }

    @Test(arguments: ["deep", "large"])
    func `a reply that no node reads fails, and so does a progress reply`(kind: String) async throws {
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

    @Test func `a value for a return URL that does not arrive fails the call`() async throws {
        try await Self.withNodes { near, _, _ in
            let heard = Tally()
            try near.bus.register("app://own/take") { _ in heard.add() }
            let error = await failure {
                try await near.bus.route("app://far/give/large#app://own/take")
            }
            #expect(error?.code == .notTransferable && heard.count == 0)
        }
    }

    @Test func `an error that says too much is cut`() async throws {
        try await Self.withNodes { near, _, _ in
            let error = await failure { try await near.bus.route("app://far/fail") }
            #expect(error?.code == .handlerFailed)
            let cause = error?.cause.map { "\($0)" } ?? ""
            #expect(cause.utf8.count < 5000 && cause.hasSuffix("x… (1,048,576 bytes)"))
        }
    }

    @Test func `an answer to a progress reply that does not arrive fails the reply`() async throws {
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

    @Test func `an answer that waits for too many others fails, and what is small is sent`() async throws {
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
            // So does a progress reply, and with it what its handler makes of that.
            try far.bus.register("app://far/report") { message -> String in
                let text = String(repeating: "x", count: 100_000)
                return Self.codes(
                    of: await failure { try await message.reply(with: text, expecting: Int.self) }
                )
            }
            #expect(await near.knows("app://far/report"))
            let codes: String = try await near.bus.route("app://far/report") { (_: String) in 1 }
            #expect(codes == "refused, since mailboxFull")
            // And a value for a return URL, whose handler is cancelled with the call.
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

    @Test func `a client that is no node cannot subscribe with a request`() async throws {
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
            // It answers progress replies, and does not say for how long.
            let told =
                #"{"jsonrpc":"2.0","id":2,"method":"app://far/tell/small","params":{"#
                + #""$waybill":{"progress":true,"answers":true}}}"#
            cluster.memory.publish(subject, "_INBOX.1", Array(told.utf8), from: 0)
            #expect(await eventually { answers.entries.contains { $0.contains(#""id":2,"result""#) } })
            cluster.memory.observe(nil)
        }
    }
}
